import gzip
import json

import pytest

from annotation.imports.reading.records import FileRefused
from scoring.contract.evaluator import EvaluatorError
from scoring.evaluators import UnknownEvaluator
from scoring.files.score_file import score_file
from tests.scoring.scripted_endpoint import Answer
from tests.scoring.tiny_models import tiny_model


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def row(number, **overrides):
    return {"id": f"s{number}", "summary": f"Summary {number}.", "article_id": f"a{number}", **overrides}


def run(folder, evaluator, rows, settings=None, **options):
    """Score the rows; return the result, and the rows of the scores file by id."""
    (folder / "in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    options.setdefault("retry_delays_s", ())
    result = score_file(evaluator, settings or {}, folder / "in.jsonl", folder / "out.jsonl", **options)
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [each["id"] for each in lines] == [each["id"] for each in rows]
    return result, {each["id"]: each for each in lines}


def ice_settings(endpoint, **more):
    return {"model": "m", "base_url": endpoint.base_url, "dimensions": "fluency", "examples": "2", **more}


def nothing_written(folder):
    return {each.name for each in folder.iterdir()} <= {"in.jsonl"}


def test_scores_every_line_and_reports(folder):
    rows = [row(1, references=["Summary 1."]), row(2), row(3, summary="", references=["R"])]
    result, written = run(folder, "rouge", rows, {"variant": "1"})
    assert written["s1"] == {"id": "s1", "scores": {"general": 1.0}}
    assert written["s2"] == {"id": "s2", "scores": {"general": None}, "reasons": {"general": "no reference"}}
    assert (result.total, result.scored) == (3, 1)
    assert result.reasons == {"no reference": 1, "empty summary": 1}
    assert result.label == "ROUGE-1"
    assert result.signature.startswith("rouge|variant:1|")
    assert len(result.fingerprint) == 64


def test_compressed_examples_give_the_same_scores_compressed(folder):
    run(folder, "length", [row(1), row(2)])
    packed = folder / "in.jsonl.gz"
    packed.write_bytes(gzip.compress((folder / "in.jsonl").read_bytes()))
    score_file("length", {}, packed, folder / "again.jsonl.gz")
    assert gzip.decompress((folder / "again.jsonl.gz").read_bytes()) == (folder / "out.jsonl").read_bytes()


def test_progress_counts_up_to_the_total(folder):
    seen = []
    run(folder, "length", [row(1), row(2)], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 2)]


def test_invalid_evaluator_parameter_or_file_writes_nothing(folder):
    (folder / "in.jsonl").write_text('{"id": "1"}\n')
    for evaluator, settings, error in (
        ("rogue", {}, UnknownEvaluator),
        ("rouge", {"variant": "3"}, ValueError),
        ("rouge", {}, FileRefused),
    ):
        with pytest.raises(error):
            score_file(evaluator, settings, folder / "in.jsonl", folder / "out.jsonl")
    assert nothing_written(folder)


def test_missing_output_folder_is_refused_before_scoring(folder, endpoint):
    (folder / "in.jsonl").write_text(
        "".join(json.dumps(row(n, labels={"fluency": 1})) + "\n" for n in range(5))
    )
    with pytest.raises(FileNotFoundError, match="no folder"):
        score_file("ice", ice_settings(endpoint), folder / "in.jsonl", folder / "missing" / "out.jsonl")
    assert endpoint.asked == []


class TestPool:
    LABELLED = [row(number, labels={"fluency": number % 3 + 1}) for number in range(6)]

    def test_articles_of_in_context_examples_are_not_scored(self, folder, endpoint):
        result, _ = run(folder, "ice", self.LABELLED, ice_settings(endpoint), label_scale=(1, 5))
        assert result.reasons == {"article is in the in-context pool": 2}
        assert result.scored == 4
        assert len(endpoint.asked) == 4
        assert "Fluency: 0.25" in endpoint.asked[0].prompt or "Fluency: 0.50" in endpoint.asked[0].prompt

    def test_other_summaries_of_example_articles_are_not_scored(self, folder, endpoint):
        rows = [row(n, article_id=f"a{n // 2}", labels={"fluency": 1}) for n in range(6)]
        result, _ = run(folder, "ice", rows, ice_settings(endpoint))
        assert result.reasons == {"article is in the in-context pool": 4}

    def test_articles_without_id_are_identified_by_their_text(self, folder, endpoint):
        rows = [row(n, article_id=None, article=f"Text {n // 2}", labels={"fluency": 1}) for n in range(6)]
        result, _ = run(folder, "ice", rows, ice_settings(endpoint))
        assert result.reasons == {"article is in the in-context pool": 4}

    def test_train_split_is_the_pool(self, folder):
        train = [row(n, split="train", labels={"fluency": n % 2}) for n in range(3)]
        test = [row(n, split="test", labels={"fluency": 1}) for n in range(3, 6)]
        result, written = run(folder, "majority", [*train, *test])
        assert result.reasons == {"article is in the labelled pool": 3}
        assert [written[f"s{n}"]["scores"]["fluency"] for n in range(3, 6)] == [0.0, 0.0, 0.0]

    def test_label_outside_the_scale_is_refused(self, folder, endpoint):
        with pytest.raises(ValueError, match=r"example 's1', label 'fluency': found 2, expected .* 0 to 1"):
            run(folder, "ice", self.LABELLED, ice_settings(endpoint))
        assert nothing_written(folder)

    @pytest.mark.parametrize("scale", [(1, 1), (5, 1), (0, float("nan"))])
    def test_an_impossible_scale_is_refused(self, folder, scale):
        with pytest.raises(ValueError, match="label scale"):
            run(folder, "majority", self.LABELLED, label_scale=scale)

    def test_labelled_example_of_an_unknown_article_is_refused(self, folder):
        with pytest.raises(ValueError, match="example 's1': found neither article_id nor article"):
            run(folder, "majority", [row(1, article_id=None, labels={"fluency": 1})])

    def test_file_without_labels_has_no_pool(self, folder):
        with pytest.raises(EvaluatorError, match="no label"):
            run(folder, "majority", [row(1)])
        assert nothing_written(folder)


class TestOutages:
    POOL = [row(f"p{n}", split="train", labels={"fluency": 1}) for n in range(2)]
    ROWS = [row(n) for n in range(6)]

    @pytest.fixture
    def one_by_one(self, monkeypatch):
        """Put one summary in each batch."""
        monkeypatch.setattr("scoring.evaluators.ice.Ice.batch_size", 1)

    def scripted(self, endpoint, *statuses):
        """Answer requests with these statuses, then with 200."""
        queue = list(statuses)
        endpoint.answer = lambda _: Answer(status=queue.pop(0) if queue else 200)

    def test_replies_before_a_failure_are_not_requested_again(self, folder, endpoint):
        self.scripted(endpoint, 200, 503, 429)
        settings = ice_settings(endpoint)
        result, _ = run(folder, "ice", [*self.POOL, *self.ROWS], settings, retry_delays_s=(0, 0))
        assert result.scored == 6
        assert len(endpoint.asked) == 8

    def test_failing_summary_leaves_its_batch_scored(self, folder, endpoint):
        endpoint.answer = lambda asked: Answer(status=500 if "Summary s3" in asked.prompt else 200)
        rows = [*self.POOL, *(each | {"summary": f"Summary {each['id']}."} for each in self.ROWS)]
        result, written = run(folder, "ice", rows, ice_settings(endpoint), retry_delays_s=(0,))
        assert result.scored == 5
        assert "answers 500" in written["s3"]["reasons"]["fluency"]
        assert written["s4"]["scores"]["fluency"] == 0.75

    def test_key_that_expires_in_the_first_batch_keeps_replies(self, folder, endpoint):
        self.scripted(endpoint, 200, 200, 401, 401, 401, 401)
        result, _ = run(folder, "ice", [*self.POOL, *self.ROWS], ice_settings(endpoint))
        assert result.scored == 2

    @pytest.mark.usefixtures("one_by_one")
    def test_outage_is_retried(self, folder, endpoint):
        self.scripted(endpoint, 200, 503, 429)
        settings = ice_settings(endpoint)
        result, _ = run(folder, "ice", [*self.POOL, *self.ROWS], settings, retry_delays_s=(0, 0))
        assert result.scored == 6
        assert len(endpoint.asked) == 8

    @pytest.mark.usefixtures("one_by_one")
    def test_failing_summary_gets_the_reason(self, folder, endpoint):
        self.scripted(endpoint, 200, 500, 500)
        settings = ice_settings(endpoint)
        result, written = run(folder, "ice", [*self.POOL, *self.ROWS], settings, retry_delays_s=(0,))
        assert result.scored == 5
        assert "answers 500" in written["s1"]["reasons"]["fluency"]
        assert written["s2"]["scores"]["fluency"] == 0.75

    @pytest.mark.usefixtures("one_by_one")
    def test_dead_endpoint_stops_and_keeps_finished_scores(self, folder, endpoint):
        self.scripted(endpoint, 200, 500, 500, 500)
        result, written = run(folder, "ice", [*self.POOL, *self.ROWS], ice_settings(endpoint))
        assert result.scored == 1
        assert len(endpoint.asked) == 4
        assert "answers 500" in written["s5"]["reasons"]["fluency"]

    @pytest.mark.usefixtures("one_by_one")
    def test_key_that_expires_later_keeps_finished_scores(self, folder, endpoint):
        self.scripted(endpoint, 200, 200, 401)
        settings = ice_settings(endpoint)
        result, _ = run(folder, "ice", [*self.POOL, *self.ROWS], settings, retry_delays_s=(0, 0))
        assert result.scored == 2
        assert len(endpoint.asked) == 3

    def test_a_wrong_key_writes_nothing(self, folder, endpoint):
        self.scripted(endpoint, 401)
        rows = [self.ROWS[0], *self.POOL]
        with pytest.raises(EvaluatorError, match="401"):
            run(folder, "ice", rows, ice_settings(endpoint))
        assert nothing_written(folder)


def test_expected_problems_are_announced_before_scoring(folder, monkeypatch):
    order = []
    monkeypatch.setattr("scoring.evaluators.rouge.Rouge.languages", frozenset({"en", "de"}))
    rows = [
        row(1, references=["Summary 1."], language="en"),
        row(2),
        row(3, references=["R"], language="vi"),
        row(4, references=["R"]),
    ]
    _, written = run(
        folder,
        "rouge",
        rows,
        announce=lambda foreseen: order.append(dict(foreseen)),
        progress=lambda done, _: order.append(done),
    )
    assert order == [{"no reference": 1, "language vi is none of de, en": 1}, 4]
    assert written["s3"]["reasons"] == {"general": "language vi is none of de, en"}
    assert written["s4"]["scores"]["general"] is not None


def test_cut_texts_are_counted_and_marked(folder):
    rows = [row(1, references=["word " * 2000]), row(2, references=["A reference."])]
    result, written = run(folder, "similarity", rows, {"model": str(tiny_model("bert"))})
    assert result.cut == 1
    assert 0 < written["s1"]["shares_read"]["references"] < 1
    assert "shares_read" not in written["s2"]
