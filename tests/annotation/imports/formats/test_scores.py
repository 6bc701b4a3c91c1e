import csv
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.declared.settings import SettingsRefused
from annotation.imports.reading.importer import open_import
from annotation.imports.reading.records import Entry, FileRefused, Rejected
from tests.import_files import jsonl, lines, read, workbook

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


# Tables with a column for each metric

METRICS = ("article_id,system,rouge1,ice_coherence", "a,x,0.5,1", "b,x,,2e-3")
DIMENSIONS = ("coherence", "fluency")


def read_table(path, *, companion=None, **options):
    importer = open_import("scores", path, companion=companion, options=options, dimensions=DIMENSIONS)
    items = list(importer.entries())
    return (
        [item for item in items if isinstance(item, Entry)],
        [problem for item in items if isinstance(item, Rejected) for problem in item.problems],
        importer.notes,
    )


def scores_of(path, **options):
    """Return (article, system, evaluator, dimension, value, reason) of each score of a valid file."""
    entries, problems, _ = read_table(path, **options)
    assert not problems
    return [
        (*score.key, score.evaluator, score.dimension, score.value, score.reason)
        for entry in entries
        for score in entry.scores
    ]


def problem_of(path, **options):
    """Return line, field, found and expected of the only problem of a file."""
    try:
        (problem,) = read_table(path, **options)[1]
    except FileRefused as refusal:
        (problem,) = refusal.problems
    return problem.line, problem.field, problem.found, problem.expected


def test_each_column_of_a_table_is_an_evaluator(tmp_path):
    assert scores_of(lines(tmp_path / "metrics.csv", *METRICS)) == [
        ("a", "x", "rouge1", "general", 0.5, ""),
        ("a", "x", "ice", "coherence", 1.0, ""),
        ("b", "x", "rouge1", "general", None, "no score in the file"),
        ("b", "x", "ice", "coherence", 0.002, ""),
    ]


def test_a_table_may_name_summaries_by_one_id(tmp_path):
    assert scores_of(lines(tmp_path / "m.csv", "id,rouge1", "a/x,1"))[0][:2] == ("a/x", "")


def test_article_and_system_count_more_than_an_id(tmp_path):
    assert scores_of(lines(tmp_path / "m.csv", "id,article_id,system,r", "17,a,x,1"))[0][:2] == ("a", "x")


def test_the_ids_of_a_table_are_looked_up_in_the_examples(tmp_path):
    table = lines(tmp_path / "m.csv", "id,r", "17,1")
    examples = jsonl(tmp_path / "e.jsonl", {"id": "17", "article_id": "a", "system": "x"})
    assert scores_of(table, companion=examples)[0][:2] == ("a", "x")
    examples = jsonl(tmp_path / "e.jsonl", {"id": "18", "article_id": "a", "system": "x"})
    assert problem_of(table, companion=examples)[:3] == (2, "id", "'17'")


@pytest.mark.parametrize(
    ("mapping", "names"),
    [
        (["article_id=doc", "system=sys"], ("d/1", "s")),
        (["article_id=doc+sys", "system==z"], ("d/1-s", "z")),
        (["id=doc+sys"], ("d/1/s", "")),
    ],
)
def test_other_columns_that_name_the_summary_are_mapped(tmp_path, mapping, names):
    (score,) = scores_of(lines(tmp_path / "m.csv", "doc,sys,r", "d/1,s,1"), map=mapping)
    assert score[:3] == (*names, "r")


def test_chosen_columns_have_the_evaluators_names_and_are_the_only_ones(tmp_path):
    path = lines(tmp_path / "m.csv", "id,hash,r1,r2,c", "a/x,ff,1,2,3")
    mapping = ["score:ROUGE-1=r1", "score:ICE:coherence=c"]
    assert [score[2:5] for score in scores_of(path, map=mapping)] == [
        ("ROUGE-1", "general", 1.0),
        ("ICE", "coherence", 3.0),
    ]


def test_columns_called_after_a_dimension_belong_to_the_evaluator_of_the_file(tmp_path):
    path = lines(tmp_path / "gpt.v1.csv", "id,coherence,fluency", "a/x,1,2")
    assert [score[2:4] for score in scores_of(path)] == [("gpt", "coherence"), ("gpt", "fluency")]
    assert {score[2] for score in scores_of(path, evaluator="My judge")} == {"My judge"}


@pytest.mark.parametrize("cell", ["", " ", "NaN", "nan", "None", "NA", "null"])
def test_an_absent_score_is_not_0(tmp_path, cell):
    path = lines(tmp_path / "m.csv", "id,r", "a/x,1", f"b/x,{cell}")
    assert scores_of(path)[1][4:] == (None, "no score in the file")


def test_a_column_without_any_score_has_absent_scores(tmp_path):
    assert scores_of(lines(tmp_path / "m.csv", "id,r,s", "a/x,1,"))[1][2:5] == ("s", "general", None)


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "abc", "1_000", "0x1", "1e400", "1e61", "true"])
def test_a_cell_that_is_no_number_is_reported_with_row_and_column(tmp_path, cell):
    path = lines(tmp_path / "m.csv", "id,r", "a/x,1", f"b/x,{cell}")
    line, field, found, expected = problem_of(path)
    assert (line, field, found) == (3, "r", repr(cell))
    assert expected.startswith("a number")


@pytest.mark.parametrize("value", [True, [1], {"x": 1}, 10**400], ids=["bool", "list", "object", "large"])
def test_a_value_of_json_that_is_no_number_is_reported_with_row_and_field(tmp_path, value):
    path = tmp_path / "m.json"
    path.write_text(f'[{{"id": "a/x", "r": 1}},\n{json.dumps({"id": "b/x", "r": value})}]')
    assert problem_of(path)[:2] == (2, "r")


def test_a_column_of_texts_is_refused_by_name_with_what_to_do(tmp_path):
    path = lines(tmp_path / "m.csv", "id,r,hash", "a/x,1,", "a/x,1,ff")
    line, field, found, expected = problem_of(path)
    assert (line, field, found) == (3, "hash", "'ff'")
    assert "remove this column" in expected
    assert "--map score:NAME=column" in expected


def test_known_texts_and_row_numbers_are_left_out_and_named(tmp_path):
    path = lines(tmp_path / "m.csv", ",id,document,Summary,is_reference,r", "0,a/x,1,T.,0,1")
    entries, _, notes = read_table(path)
    assert [score.evaluator for score in entries[0].scores] == ["r"]
    assert notes == [
        "Scores of 1 evaluator: r. Columns that are left out: (no name), document, Summary, is_reference."
    ]


def test_the_note_names_the_dimensions_of_each_evaluator(tmp_path):
    path = lines(tmp_path / "m.csv", "id,rouge,ice,ice_coherence", "a/x,1,2,3")
    assert read_table(path)[2] == ["Scores of 2 evaluators: rouge, ice (general, coherence)."]


@pytest.mark.parametrize(
    ("rows", "options", "field"),
    [
        (("id,summary", "a/x,Text."), {}, "header"),
        (("id", "a/x"), {}, "header"),
        (("article_id,r", "a,1"), {}, "system"),
        (("id,system,r", "a,x,1"), {}, "article_id"),
        (("id,ice_coherence,ice.coherence", "a/x,1,2"), {}, "ice.coherence"),
        (("id," + "e" * 121, "a/x,1"), {}, "e" * 121),
        (("id,r", "a/x,1"), {"map": ["score:x=rouge"]}, "rouge"),
        (("id,r,r2", "a/x,1,2"), {"map": ["score:x=r+r2"]}, "r+r2"),
    ],
)
def test_a_table_without_clear_columns_is_refused(tmp_path, rows, options, field):
    with pytest.raises(FileRefused):
        read_table(lines(tmp_path / "m.csv", *rows), **options)
    assert problem_of(lines(tmp_path / "m.csv", *rows), **options)[1] == field


def test_a_row_without_a_summary_is_invalid(tmp_path):
    path = lines(tmp_path / "m.csv", "doc,system,r", "a,x,1", ",x,1")
    assert problem_of(path, map=["article_id=doc"])[:2] == (3, "doc")


@pytest.mark.parametrize("pairs", [["score:x==1"], ["score:x=r", "score:y=r"], ["score=r"], ["scores:x=r"]])
def test_an_impossible_mapping_is_refused(tmp_path, pairs):
    with pytest.raises(SettingsRefused):
        read_table(lines(tmp_path / "m.csv", "id,r", "a/x,1"), map=pairs)


def test_the_proposal_names_the_summary_and_every_column_of_scores(tmp_path):
    def proposed(*rows, **options):
        path = lines(tmp_path / "m.csv", *rows)
        importer = open_import("scores", path, options=options, dimensions=DIMENSIONS)
        return list(importer.table_head().proposed)

    assert proposed("doc_id,model,hash,r", "a,x,ff,1") == ["article_id=doc_id", "system=model", "score:r=r"]
    assert proposed("id,system,r", "a,x,1") == ["article_id=id", "score:r=r"]
    assert proposed("id,r,text", "a/x,1,T.") == ["score:r=r"]
    assert proposed("d,sys,r", "a,x,1", map=["id=d+sys"]) == ["id=d+sys", "score:r=r"]


def test_an_object_with_scores_makes_a_file_of_one_evaluator(tmp_path):
    path = tmp_path / "ice.json"
    path.write_text(json.dumps([ROW]))
    assert [score[2:5] for score in scores_of(path)] == [("ice", "fluency", 0.5), ("ice", "coherence", None)]
    assert problem_of(path, map=["id=key"])[1] == "scores"


NUMBERS = st.integers(-(10**15), 10**15) | st.floats(-1e60, 1e60).map(
    lambda number: float(f"{number:.15g}")  # openpyxl writes 16 digits
)
COLUMNS = {
    "rouge1": ("rouge1", "general"),
    "ice_coherence": ("ice", "coherence"),
    "ice.fluency": ("ice", "fluency"),
    "a judge:fluency": ("a judge", "fluency"),
}


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_table_of_any_kind_has_the_scores_of_one_file_for_each_evaluator(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    columns = data.draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, unique=True))
    row = st.tuples(*[st.none() | NUMBERS for _ in columns])
    rows = data.draw(st.lists(row, min_size=1, max_size=4))
    header = ["article_id", "system", *columns]
    table = [["a 1", f"s{number}", *row] for number, row in enumerate(rows)]

    expected = set()
    for evaluator in {COLUMNS[name][0] for name in columns}:
        lines_of_one = []
        for article_id, system, *values in table:
            given_scores = {
                COLUMNS[name][1]: value
                for name, value in zip(columns, values, strict=True)
                if COLUMNS[name][0] == evaluator
            }
            absent = [name for name, value in given_scores.items() if value is None]
            lines_of_one.append(
                {
                    "id": f"{article_id}/{system}",
                    "article_id": article_id,
                    "system": system,
                    "scores": given_scores,
                    "reasons": dict.fromkeys(absent, "no score in the file"),
                }
            )
        expected |= set(scores_of(jsonl(folder / f"{evaluator}.jsonl", *lines_of_one)))

    for name, delimiter in (("m.csv", ","), ("m.tsv", "\t")):
        with (folder / name).open("w", newline="") as stream:
            csv.writer(stream, delimiter=delimiter).writerows([header, *table])
    (folder / "m.json").write_text(json.dumps([dict(zip(header, row, strict=True)) for row in table]))
    workbook(folder / "m.xlsx", header, *table)
    for name in ("m.csv", "m.tsv", "m.json", "m.xlsx"):
        assert set(scores_of(folder / name)) == expected
