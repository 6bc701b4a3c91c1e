import json

import pytest

from annotation.declared.settings import SettingsRefused
from tests.import_files import jsonl, lines, read, refused, workbook

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
        ({"labels": {"fluency": 4, "fluency ": 2}}, "labels.fluency "),
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


TABLE = [
    ["article_id", "system", "summary", "article", "language", "is_reference", "references"],
    ["a", "x", "A ship.", "The harbour froze.", "de", "no", "Ice."],
    ["a", "y", "", "The harbour froze.", "de", "yes", ""],
]


def summaries(found):
    return [(s.article_id, s.system, s.text, s.is_reference) for e in found.entries for s in e.summaries]


def table(tmp_path, *rows, **options):
    return read("examples", lines(tmp_path / "e.csv", *(",".join(row) for row in rows)), **options)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "xlsx"])
def test_tables_have_one_summary_per_row(tmp_path, delimiter):
    path = tmp_path / "file"
    if delimiter == "xlsx":
        workbook(path, *TABLE)
    else:
        lines(path, *(delimiter.join(row) for row in TABLE))
    found = read("examples", path)
    assert not found.problems
    assert found.entries[0].article.text == "The harbour froze."
    assert found.entries[0].article.language == "de"
    assert summaries(found) == [
        ("a", "x", "A ship.", False),
        ("a", "reference-1", "Ice.", True),
        ("a", "y", "", True),
    ]


def test_an_array_of_objects_reads_like_lines(tmp_path):
    path = lines(tmp_path / "e.json", *json.dumps([ROW, ROW | {"system": "y"}, 7], indent=1).splitlines())
    found = read("examples", path)
    assert found.where == [(len(path.read_text().splitlines()) - 1, "line")]
    assert found.entries[0].summaries == read_row(tmp_path).entries[0].summaries
    assert [entry.summaries[0].system for entry in found.entries] == ["x", "y"]
    assert found.entries[1].line > found.entries[0].line + 10


def test_a_malformed_line_above_json_is_an_invalid_row(tmp_path):
    found = read("examples", lines(tmp_path / "e.jsonl", "# exported, in May", json.dumps(ROW)))
    assert (found.where, len(found.entries)) == ([(1, "line")], 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", "an empty array"),
        ("[{}", "malformed JSON at column 1: Expecting ',' delimiter"),
        ("[{},]", "malformed JSON at column 5: Illegal trailing comma before end of array"),
        ("[{}] {}", "malformed JSON at column 6: Extra data"),
    ],
)
def test_a_broken_array_is_refused(tmp_path, text, found):
    assert refused("examples", lines(tmp_path / "e.json", text)).found == found


def test_columns_are_mapped_joined_and_set(tmp_path):
    found = table(
        tmp_path,
        ["doc", "page", "output"],
        ["d", "1", "A ship."],
        ["d", "", "A boat."],
        map=["article_id=doc+page", "system==gpt", "summary=output"],
    )
    assert summaries(found) == [("d-1", "gpt", "A ship.", False)]
    assert found.where == [(3, "doc+page")]


def test_rejected_rows_keep_the_columns_of_the_file(tmp_path):
    path = lines(tmp_path / "e.csv", "article_id,system,out,other", ",x,A ship.,z")
    assert read("examples", path, map=["summary=out"]).where == [(2, "article_id")]


def test_wide_tables_have_a_column_of_summaries_for_each_system(tmp_path):
    found = table(
        tmp_path,
        ["id", "text", "gpt4", "human"],
        ["a", "The harbour froze.", "A ship.", "Ice."],
        ["b", "A storm came.", "", "Wind."],
        map=["article_id=id", "article=text", "summary:gpt-4=gpt4", "summary:reference=human"],
    )
    assert summaries(found) == [
        ("a", "gpt-4", "A ship.", False),
        ("a", "reference", "Ice.", True),
        ("b", "reference", "Wind.", True),
    ]
    assert [entry.article.text for entry in found.entries] == ["The harbour froze.", "A storm came."]


@pytest.mark.parametrize(
    "pairs",
    [["summary:a=x", "summary=y"], ["summary:a=x", "system==y"], [f"summary:{'a' * 121}=x"], ["summary:=x"]],
)
def test_mixed_or_unusable_mappings_of_systems_are_refused(tmp_path, pairs):
    with pytest.raises(SettingsRefused):
        table(tmp_path, ["x", "y"], map=pairs)


def test_an_article_without_an_id_is_identified_by_its_text(tmp_path):
    header = ["article", "system", "summary"]
    found = table(tmp_path, header, ["The ice.", "x", "A."], ["The  ice.", "y", "B."], ["", "x", "C."])
    ids = [entry.article.external_id for entry in found.entries]
    assert len(ids) == 2
    assert len(set(ids)) == 1
    assert ids[0].startswith("sha256:")
    assert found.where == [(4, "article_id")]
    assert found.notes == ["2 rows have no article_id. The text of the article identifies it."]
    in_json = {name: ROW[name] for name in ("article", "system", "summary")}
    assert (
        read("examples", jsonl(tmp_path / "e.jsonl", in_json | {"article": "The ice."}))
        .entries[0]
        .article.external_id
        == ids[0]
    )


def test_a_table_without_ids_and_articles_is_refused(tmp_path):
    problem = refused("examples", lines(tmp_path / "e.csv", "system,summary", "x,A."))
    assert (problem.line, problem.field) == (1, "article_id")


def test_repeating_an_import_without_ids_makes_the_same_ids(tmp_path):
    rows = ["article,system,summary", "The ice.,x,A."]
    first, second = (read("examples", lines(tmp_path / name, *rows)) for name in ("a.csv", "b.csv"))
    assert first.entries[0].article == second.entries[0].article
