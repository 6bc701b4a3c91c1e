import pytest

from tests.import_files import jsonl, read

ROW = {"id": "a/x", "scores": {"fluency": 0.5, "coherence": None}, "reasons": {"coherence": "empty summary"}}


def read_row(tmp_path, **changes):
    return read("scores", jsonl(tmp_path / "ice.v2.jsonl", ROW | changes))


def test_scores_and_reasons_are_read(tmp_path):
    (entry,) = read_row(tmp_path).entries
    assert [(s.evaluator, s.dimension, s.value, s.reason) for s in entry.scores] == [
        ("ice", "fluency", 0.5, ""),
        ("ice", "coherence", None, "empty summary"),
    ]


def test_an_id_alone_is_left_for_the_project_to_resolve(tmp_path):
    assert [(s.article_id, s.system) for s in read_row(tmp_path).entries[0].scores] == [("a/x", "")] * 2


def test_the_evaluator_can_be_named(tmp_path):
    path = jsonl(tmp_path / "f.jsonl", ROW)
    assert read("scores", path, evaluator="My ICE").entries[0].scores[0].evaluator == "My ICE"


def test_a_row_may_name_article_and_system(tmp_path):
    (entry,) = read_row(tmp_path, article_id="a", system="x").entries
    assert {(s.article_id, s.system) for s in entry.scores} == {("a", "x")}


def test_ids_are_looked_up_in_the_examples(tmp_path):
    scores = jsonl(tmp_path / "s.jsonl", ROW | {"id": "17"}, ROW | {"id": "18"})
    examples = jsonl(tmp_path / "e.jsonl", {"id": "17", "article_id": "a", "system": "x", "summary": "A."})
    found = read("scores", scores, companion=examples)
    assert (found.entries[0].scores[0].article_id, found.entries[0].scores[0].system) == ("a", "x")
    assert found.where == [(2, "id")]
    assert found.problems[0].expected == "an id of the examples file"


def test_an_ambiguous_id_is_invalid(tmp_path):
    examples = jsonl(
        tmp_path / "e.jsonl",
        {"id": "17", "article_id": "a", "system": "x"},
        {"id": "17", "article_id": "b", "system": "x"},
        {"id": "18", "system": "x"},
    )
    found = read("scores", jsonl(tmp_path / "s.jsonl", ROW | {"id": "17"}), companion=examples)
    assert [(problem.file, *where) for problem, where in zip(found.problems, found.where, strict=True)] == [
        ("e.jsonl", 2, "id"),
        ("e.jsonl", 3, "article_id"),
    ]


def test_names_lose_the_white_space_around_them(tmp_path):
    path = jsonl(tmp_path / f"{' ' * 120}ice.jsonl", ROW | {"scores": {f"{' ' * 60}fluency": 1}})
    ((score,),) = (entry.scores for entry in read("scores", path).entries)
    assert (score.evaluator, score.dimension) == ("ice", "fluency")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"id": None}, "id"),
        ({"id": ""}, "id"),
        ({"scores": None}, "scores"),
        ({"scores": [0.5]}, "scores"),
        ({"scores": {"fluency": "0.5"}}, "scores.fluency"),
        ({"scores": {"fluency": True}}, "scores.fluency"),
        ({"scores": {"": 1}}, "scores."),
        ({"scores": {"fluency": 1, "fluency ": 2}}, "scores.fluency "),
        ({"scores": {"d" * 61: 1}}, "scores." + "d" * 61),
        ({"reasons": {}}, "reasons.coherence"),
        ({"reasons": {"coherence": ""}}, "reasons.coherence"),
        ({"reasons": {"coherence": "x", "fluency": "x"}}, "reasons.fluency"),
        ({"reasons": "x"}, "reasons"),
        ({"article_id": "a"}, "system"),
        ({"system": "x"}, "article_id"),
    ],
)
def test_an_invalid_row_is_reported_with_line_and_field(tmp_path, changes, field):
    path = jsonl(tmp_path / "s.jsonl", ROW, ROW | changes)
    found = read("scores", path)
    assert (2, field) in found.where
    assert {line for line, _ in found.where} == {2}


def test_nan_is_not_valid_json(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"id": "a/x", "scores": {"fluency": NaN}}\n')
    assert read("scores", path).where == [(1, "line")]
