import pytest

from tests.import_files import jsonl, read

ROW = {
    "id": "a/x",
    "article_id": "a",
    "system": "x",
    "summary": "A ship.",
    "article": "The harbour froze.",
    "references": ["Ice.", "Cold."],
    "language": "de",
    "dataset": "mine",
    "split": "test",
    "labels": {"fluency": 4, "coherence": 2.5},
}


def read_row(tmp_path, options=None, **changes):
    return read("examples", jsonl(tmp_path / "e.jsonl", ROW | changes), **(options or {}))


def test_a_row_gives_an_article_a_summary_references_and_labels(tmp_path):
    (entry,) = read_row(tmp_path).entries
    assert (entry.article.language, entry.article.dataset, entry.article.split) == ("de", "mine", "test")
    assert [(s.system, s.is_reference, s.to_be_rated) for s in entry.summaries] == [
        ("x", False, True),
        ("reference-1", True, False),
        ("reference-2", True, False),
    ]
    (rating,) = entry.ratings
    assert rating.rater == "imported-labels"
    assert {name: answer.value for name, answer in rating.answers.items()} == {
        "fluency": "4",
        "coherence": "2.5",
    }


def test_labels_can_be_left_out_or_given_to_a_named_rater(tmp_path):
    assert not read_row(tmp_path, {"no_labels": True}).entries[0].ratings
    assert read_row(tmp_path, {"rater": "paper"}).entries[0].ratings[0].rater == "paper"


def test_required_fields_are_enough(tmp_path):
    bare = {name: ROW[name] for name in ("article_id", "system", "summary")}
    found = read("examples", jsonl(tmp_path / "e.jsonl", bare))
    assert not found.problems
    assert not found.entries[0].ratings


@pytest.mark.parametrize("system", ["reference", "reference-3"])
def test_systems_named_reference_are_marked_as_references(tmp_path, system):
    assert read_row(tmp_path, system=system).entries[0].summaries[0].is_reference


def test_an_option_marks_other_systems_as_references(tmp_path):
    assert read_row(tmp_path, {"reference_systems": "x,y"}).entries[0].summaries[0].is_reference
    assert not read_row(tmp_path, system="reference-model").entries[0].summaries[0].is_reference


def test_fields_that_are_not_stored_are_listed(tmp_path):
    assert read_row(tmp_path, summary_sentences=["A ship."]).notes == [
        "These fields are not stored: summary_sentences."
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"article_id": None}, "article_id"),
        ({"article_id": "  "}, "article_id"),
        ({"article_id": 1.5}, "article_id"),
        ({"article_id": True}, "article_id"),
        ({"system": None}, "system"),
        ({"summary": None}, "summary"),
        ({"summary": ["A"]}, "summary"),
        ({"article": 1}, "article"),
        ({"language": "Deutsch"}, "language"),
        ({"language": "DE"}, "language"),
        ({"language": "de-" + "x" * 20}, "language"),
        ({"split": "holdout"}, "split"),
        ({"dataset": "d" * 81}, "dataset"),
        ({"title": "t" * 301}, "title"),
        ({"references": "Ice."}, "references"),
        ({"references": [None]}, "references.1"),
        ({"labels": [1]}, "labels"),
        ({"labels": {"fluency": "4"}}, "labels.fluency"),
        ({"labels": {"fluency": False}}, "labels.fluency"),
    ],
)
def test_an_invalid_row_is_reported_with_line_and_field(tmp_path, changes, field):
    path = jsonl(tmp_path / "e.jsonl", ROW, ROW | changes, ROW | {"system": "y"})
    found = read("examples", path)
    assert found.where == [(2, field)]
    assert len(found.entries) == 2


def test_article_ids_may_be_whole_numbers(tmp_path):
    assert read_row(tmp_path, article_id=17).entries[0].article.external_id == "17"


def test_all_problems_of_a_row_are_reported_at_once(tmp_path):
    fields = {field for _, field in read_row(tmp_path, system="", split="x", summary=1).where}
    assert fields == {"system", "split", "summary"}
