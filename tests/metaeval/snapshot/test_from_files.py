"""Reading ratings, labels and scores from files without a database."""

import json
from collections import Counter

import numpy as np
import pytest

from annotation.imports.reading.proposal import CannotPropose
from annotation.imports.reading.records import FileRefused
from annotation.protocol import ScaleKind
from metaeval.agreement.report import agreement_report
from metaeval.comparison.comparison import compare, table_of
from metaeval.snapshot.from_files import read_ratings, read_scored_examples
from metaeval.stats.method import Method
from scoring.evaluators import EVALUATORS, load_evaluator
from tests.import_files import within_cpu_seconds

HEADER = "article_id,system,rater,question,value\n"


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


EXAMPLES = [
    {
        "id": str(number),
        "summary": "s",
        "article_id": article,
        "system": system,
        "language": language,
        "labels": {"coherence": label},
    }
    for number, (article, system, language, label) in enumerate(
        [("a", "x", "de", 1), ("a", "y", "de", 2), ("b", "x", "en", 4), ("b", "y", "en", 3)], start=1
    )
]


def scores_of(values, dimension="general"):
    return jsonl({"id": identifier, "scores": {dimension: value}} for identifier, value in values.items())


class TestRatings:
    def rows(self, path, columns=(), **options):
        return {
            (each.question.key, each.language, each.statistic): each.as_json()
            for each in agreement_report(*read_ratings(path, {"map": list(columns)}), **options)
        }

    def test_each_row_is_an_answer(self, file):
        path = file("r.csv", HEADER + "a,s,r1,q,yes\na,s,r2,q,no\nb,s,r1,q,yes\nb,s,r2,q,yes\n")
        row = self.rows(path)["q", "all", "pairwise_agreement"]
        assert (row["value"], row["units"], row["ratings"], row["raters"]) == (0.5, 2, 4, 2)
        assert "the ratings in r.csv" in row["definition"]

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            (("yes", "No", "unsure"), ScaleKind.NOMINAL),
            (("intrinsic", "extrinsic", "none"), ScaleKind.NOMINAL),
            (("1", "3", "5.0"), ScaleKind.ORDINAL),
            (("0.25", "-1.5", "2"), ScaleKind.INTERVAL),
            (("7", "7", "7"), ScaleKind.INTERVAL),
            (("good", "good", "good"), ScaleKind.NOMINAL),
        ],
    )
    def test_the_scale_is_inferred_from_the_answers(self, file, values, kind):
        lines = "".join(f"a,s,r{place},q,{value}\n" for place, value in enumerate(values))
        _, human = read_ratings(file("r.csv", HEADER + lines))
        assert human.questions[0].question.scale.kind == kind

    def test_constant_answers_give_undefined_alpha(self, file):
        rows = self.rows(file("r.csv", HEADER + "a,s,r1,q,good\na,s,r2,q,good\n"))
        assert rows["q", "all", "krippendorff_alpha"]["value"] is None
        assert rows["q", "all", "pairwise_agreement"]["value"] == 1.0

    def test_languages_and_groups_are_read_when_given(self, file):
        path = file(
            "r.csv",
            "article_id,system,rater,question,value,language,group\n"
            "a,s,r1,q,yes,de,expert\na,s,r2,q,no,de,expert\nb,s,r1,q,yes,,expert\nb,s,r3,q,yes,,crowd\n",
        )
        rows = self.rows(path)
        assert rows["q", "de", "pairwise_agreement"]["value"] == 0.0
        assert rows["q", "all", "pairwise_agreement"]["units"] == 2
        assert {language for _, language, _ in rows} == {"all", "de"}
        assert self.rows(path, group="expert")["q", "all", "pairwise_agreement"]["units"] == 1

    def test_columns_can_be_renamed_and_fields_can_be_constant(self, file):
        path = file("r.csv", "doc,system,who,value\na,s,r1,1\na,s,r2,2\n")
        rows = self.rows(path, ["article_id=doc", "rater=who", "question==quality"])
        assert rows["quality", "all", "krippendorff_alpha"]["scale"] == "ordinal"

    @pytest.mark.parametrize(("mark", "among"), [("NA", "1"), ("NaN", "1.5"), ("?", "0")])
    def test_a_missing_answer_marker_among_numbers_is_refused_unless_named(self, file, mark, among):
        path = file("r.csv", HEADER + f"a,s,r1,q,{among}\na,s,r2,q,2\nb,s,r1,q,{mark}\nb,s,r2,q,4\n")
        with pytest.raises(CannotPropose, match="among numbers"):
            read_ratings(path)
        _, human = read_ratings(path, {"missing": [mark]})
        assert len(human.questions[0].answers) == 3

    @pytest.mark.parametrize("values", [("1e61", "2"), ("-1e308", "1e308"), ("inf", "1.5"), ("1e99", "1e99")])
    def test_numbers_too_large_to_compute_are_refused(self, file, values):
        path = file("r.csv", HEADER + f"a,s,r1,q,{values[0]}\na,s,r2,q,{values[1]}\n")
        with pytest.raises(CannotPropose, match="expected numbers from"):
            read_ratings(path)

    def test_jsonl_is_read_too(self, file):
        rows = [
            {"article_id": "a", "system": "s", "rater": rater, "question": "q", "value": value}
            for rater, value in (("r1", 1), ("r2", 2))
        ]
        assert self.rows(file("r.jsonl", jsonl(rows)))["q", "all", "pairwise_agreement"]["value"] == 0.0

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("article_id,system,rater,value\na,s,r,1\n", "question"),
            (HEADER + "a,s,r1,q,1\n,s,r2,q,2\n", "line 3, article_id"),
            (HEADER + "a,s,r1,q,1\na,s,r1,q,2\n", "line 3, value"),
            (HEADER, "no answer"),
            ("", "no line"),
        ],
    )
    def test_an_invalid_file_is_refused_with_line_and_field(self, file, text, message):
        with pytest.raises(FileRefused, match=message):
            read_ratings(file("r.csv", text))

    def test_every_invalid_row_is_listed(self, file):
        with pytest.raises(FileRefused) as refused:
            read_ratings(file("r.csv", HEADER + ",s,r,q,1\na,s,r,q,1\na,,r,q,2\n"))
        assert [problem.line for problem in refused.value.problems] == [2, 4]

    def test_a_missing_file_is_refused(self, tmp_path):
        with pytest.raises(FileRefused, match="no such file"):
            read_ratings(tmp_path / "none.csv")


class TestScoredExamples:
    def rows(self, examples, scores, level="pooled", coefficient="spearman", language="all"):
        summaries, labels, evaluators = read_scored_examples(examples, scores)
        comparison = compare(summaries, evaluators, language=language)
        return {
            (each.evaluator.label, each.labels.dimension): each.as_json()
            for each in table_of(comparison, labels, Method(level=level, coefficient=coefficient)).figures(
                None
            )
        }

    def test_each_scores_file_is_an_evaluator_named_after_it(self, file):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        scores = [
            file("rouge.jsonl", scores_of({"1": 0.1, "2": 0.2, "3": 0.4, "4": 0.3})),
            file("length.jsonl", scores_of({"1": 4, "2": 3, "3": 1, "4": 2})),
        ]
        rows = self.rows(examples, scores)
        assert rows["rouge", "coherence"]["value"] == 1.0
        assert rows["length", "coherence"]["value"] == -1.0
        assert rows["rouge", "coherence"]["n"] == 4
        assert "examples.jsonl" in rows["rouge", "coherence"]["definition"]

    def test_files_with_the_same_name_are_labelled_by_path(self, file, tmp_path):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        paths = []
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            paths.append(file(f"{folder}/rouge.jsonl", scores_of({"1": 1, "2": 2})))
        assert {evaluator for evaluator, _ in self.rows(examples, paths)} == {str(path) for path in paths}

    def test_a_file_given_twice_is_refused(self, file):
        examples, scores = file("x.jsonl", jsonl(EXAMPLES)), file("e.jsonl", scores_of({"1": 1, "2": 2}))
        with pytest.raises(FileRefused, match=r"e\.jsonl.* given twice"):
            self.rows(examples, [scores, scores])

    def test_levels_use_articles_and_systems(self, file):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        scores = [file("e.jsonl", scores_of({"1": 1, "2": 2, "3": 3, "4": 4}))]
        assert self.rows(examples, scores, level="article")["e", "coherence"]["value"] == 0.0
        assert self.rows(examples, scores, level="system")["e", "coherence"]["reason"].endswith(
            "labels equal"
        )

    def test_summaries_without_article_or_system_count_only_when_pooled(self, file):
        rows = [{"id": str(n), "summary": "s", "labels": {"q": n}} for n in range(4)]
        examples = file("examples.jsonl", jsonl(rows))
        scores = [file("e.jsonl", scores_of({str(n): n for n in range(4)}))]
        pooled = self.rows(examples, scores)["e", "q"]
        assert (pooled["value"], pooled["articles"], pooled["systems"]) == (1.0, None, None)
        system = self.rows(examples, scores, level="system")["e", "q"]
        assert system["left_out"] == {"summaries whose system is not known": 4}

    def test_missing_scores_are_counted_by_reason(self, file):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        lines = [
            {"id": "1", "scores": {"general": 1}},
            {"id": "2", "scores": {"general": None}, "reasons": {"general": "empty summary"}},
            {"id": "3", "scores": {"general": 3}},
        ]
        row = self.rows(examples, [file("e.jsonl", jsonl(lines))])["e", "coherence"]
        assert row["n"] == 2
        assert row["left_out"] == {
            "summaries without a score: empty summary": 1,
            "summaries without a score: not in the file of scores": 1,
        }

    @pytest.mark.parametrize("name", sorted(EVALUATORS))
    def test_articles_an_evaluator_reports_as_seen_are_left_out_of_its_figures(self, file, name):
        seen = load_evaluator(name).seen_reason
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        lines = [
            {"id": each["id"], "scores": {"general": None}, "reasons": {"general": seen}}
            if each["article_id"] == "a"
            else {"id": each["id"], "scores": {"general": 1.0}}
            for each in EXAMPLES
        ]
        scores = [
            file("learnt.jsonl", jsonl(lines)),
            file("length.jsonl", scores_of({"1": 1, "2": 2, "3": 4, "4": 3})),
        ]
        rows = self.rows(examples, scores)
        assert {row["n"] for (label, _), row in rows.items() if label == "learnt"} == {2}
        assert {row["n"] for (label, _), row in rows.items() if label == "length"} == {4}
        for (label, _), row in rows.items():
            assert row["left_out"] == ({"articles seen by learnt": 1} if label == "learnt" else {})

    def test_articles_reported_as_seen_on_one_dimension_count_on_another(self, file):
        labelled = [{**each, "labels": {"q": place * 1.5, "r": place}} for place, each in enumerate(EXAMPLES)]
        seen = {"scores": {"q": None, "r": 1.0}, "reasons": {"q": load_evaluator("ice").seen_reason}}
        lines = [
            {"id": each["id"], **(seen if each["article_id"] == "a" else {"scores": {"q": 1.0, "r": 2.0}})}
            for each in EXAMPLES
        ]
        given = file("examples.jsonl", jsonl(labelled)), [file("learnt.jsonl", jsonl(lines))]
        rows = {dimension: row for (_, dimension), row in self.rows(*given).items()}
        assert (rows["q"]["n"], rows["q"]["left_out"]) == (2, {"articles seen by learnt": 1})
        assert (rows["r"]["n"], rows["r"]["left_out"]) == (4, {})

    def test_labels_of_0_and_1_are_a_yes_no_question(self, file):
        rows = [{**each, "labels": {"q": number % 2}} for number, each in enumerate(EXAMPLES)]
        examples = file("examples.jsonl", jsonl(rows))
        scores = [file("e.jsonl", scores_of({"1": 1, "2": 4, "3": 2, "4": 3}))]
        assert self.rows(examples, scores, coefficient="roc_auc")["e", "q"]["value"] == 1.0
        other = file("other.jsonl", jsonl(EXAMPLES))
        assert self.rows(other, scores, coefficient="roc_auc")["e", "coherence"]["value"] is None

    def test_a_language_filter_keeps_only_its_summaries(self, file):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        scores = [file("e.jsonl", scores_of({"1": 1, "2": 2, "3": 3, "4": 4}))]
        assert self.rows(examples, scores, language="en")["e", "coherence"]["value"] == -1.0

    def test_rows_of_other_summaries_are_left_out_and_counted_on_request(self, file):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        path = file("e.jsonl", scores_of({"1": 1, "9": 2, "8": 2}))
        left_out = Counter()
        _, _, [evaluator] = read_scored_examples(examples, [path], left_out)
        assert left_out == {path: 2}
        assert evaluator.on("coherence").values[0] == 1
        with pytest.raises(FileRefused, match=r"found '9', expected an id of the examples .--only-known"):
            read_scored_examples(examples, [path])
        with pytest.raises(FileRefused, match="no score"):
            read_scored_examples(examples, [file("f.jsonl", scores_of({"9": 2}))], left_out)

    @pytest.mark.parametrize("head", ["id", "article_id,system"])
    def test_table_has_an_evaluator_for_each_metric(self, file, head):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        named = [
            each["id"] if head == "id" else f"{each['article_id']},{each['system']}" for each in EXAMPLES
        ]
        lines = [f"{name},{place},{-place}" for place, name in enumerate(named)]
        table = file("metrics.csv", "\n".join([f"{head},rouge,chrf_coherence", *lines]) + "\n")

        _, _, evaluators = read_scored_examples(examples, [table])

        assert [each.label for each in evaluators] == ["rouge", "chrf"]
        assert [each.on("coherence").values.tolist() for each in evaluators] == [
            [0, 1, 2, 3],
            [0, -1, -2, -3],
        ]
        with pytest.raises(FileRefused, match="found rouge again, expected each evaluator in one file"):
            read_scored_examples(examples, [table, file("rouge.jsonl", scores_of({"1": 1}))])

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (scores_of({"1": 1, "9": 2}), "line 2, id: found '9', expected an id of the examples"),
            (scores_of({"1": 1}) + scores_of({"1": 2}), "line 2, id: .* line 1 has this one"),
            ('{"id": "1", "scores": {"general": "high"}}\n', "line 1, scores.general"),
            ('{"id": "1", "scores": {"general": null}}\n', "line 1, reasons.general"),
            (
                '{"id": "1", "scores": {"general": 1e61}}\n',
                "scores.general: .* expected a number from",
            ),
            ('{"id": "1", "scores": {"fluency": 1}}\n', "scores of fluency, expected of any of general, coh"),
            ('{"id": "1"}\n', "line 1, scores"),
            ("{broken\n", "line 1"),
        ],
    )
    def test_invalid_scores_are_refused_with_line_and_field(self, file, lines, message):
        examples = file("examples.jsonl", jsonl(EXAMPLES))
        with pytest.raises(FileRefused, match=message):
            read_scored_examples(examples, [file("e.jsonl", lines)])

    def test_examples_without_labels_are_refused(self, file):
        examples = file("examples.jsonl", jsonl({**each, "labels": {}} for each in EXAMPLES))
        with pytest.raises(FileRefused, match="no label"):
            read_scored_examples(examples, [file("e.jsonl", scores_of({"1": 1}))])

    def test_invalid_examples_are_refused(self, file):
        examples = file("examples.jsonl", jsonl([{"id": "1"}]))
        with pytest.raises(FileRefused, match="line 1, summary"):
            read_scored_examples(examples, [file("e.jsonl", scores_of({"1": 1}))])

    def test_too_many_dimensions_are_refused(self, file):
        labels = {str(number): 1 for number in range(101)}
        examples = file("examples.jsonl", jsonl([*EXAMPLES, {"id": "x", "summary": "S.", "labels": labels}]))
        with pytest.raises(FileRefused, match=r"labels: found \d+ dimensions, expected at most 100"):
            read_scored_examples(examples, [file("e.jsonl", scores_of({"1": 1}))])

    def test_reading_stops_after_a_thousand_problems(self, file):
        scores = file("e.jsonl", scores_of({"1": 1}) + "{}\n" * 100_000)
        with within_cpu_seconds(20), pytest.raises(FileRefused, match="and more: reading stopped"):
            read_scored_examples(file("examples.jsonl", jsonl(EXAMPLES)), [scores])


def test_xsum_factuality_is_read_as_published(shared):
    """Maynez et al. 2020, three annotators: 1,869 items, ten with two answers, 33 answers missing."""
    path = shared / "data/xsum_hallucination/factuality_annotations_xsum_summaries.csv"
    columns = ["article_id=bbcid", "rater=worker_id", "value=is_factual", "question==factual"]
    summaries, human = read_ratings(path, {"map": columns})
    (ratings,) = human.questions
    assert len(ratings.answers) == 5597 - 33
    times = np.bincount(ratings.summaries, minlength=len(summaries))
    (alpha, *_) = agreement_report(summaries, human, language="all")
    assert alpha.agreement.units == int((times >= 2).sum())
