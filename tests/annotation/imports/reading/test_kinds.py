"""Telling tables from JSON by a file's content."""

import pytest

from annotation.imports.reading.json_rows import json_lines
from annotation.imports.reading.kinds import OtherKind
from annotation.imports.reading.lines import TextFile
from annotation.imports.reading.records import Rejected
from annotation.imports.reading.tables import Quoting, table_rows
from tests.import_files import lines

ROW = '{"id": "a", "text": "One, two."}'


@pytest.mark.parametrize(
    ("header", "row", "seems", "names"),
    [
        ("\n  \nid,text", 'a,"One, two."', "CSV", {"id", "text"}),
        ('"id","text"', '"a","One."', "CSV", {"id", "text"}),
        ("\ufeffid\ttext", "a\tOne, two.", "TSV", {"id", "text"}),
        ("id;text", "a;One, two.", "CSV", {"id", "text"}),
    ],
)
@pytest.mark.parametrize("number_of_rows", [0, 1, 2000])
def test_a_table_in_place_of_json_is_refused_once(tmp_path, header, row, seems, names, number_of_rows):
    path = lines(tmp_path / "file", header, *[row] * number_of_rows)
    with pytest.raises(OtherKind) as refusal:
        list(json_lines(TextFile(path)))
    (problem,) = refusal.value.problems
    assert (problem.field, problem.found) == ("file", f"what seems to be a {seems} file")
    assert problem.expected == "one JSON object a line (JSONL)"
    assert (refusal.value.kind, refusal.value.names) == ("table", names)


@pytest.mark.parametrize("first", ["# exported, in May", '"id": "a", "text": "One."}', "broken", ROW[:-1]])
def test_a_malformed_first_line_above_json_is_an_invalid_row(tmp_path, first):
    rows = list(json_lines(TextFile(lines(tmp_path / "file", first, ROW, ROW))))
    assert [isinstance(row, Rejected) for row in rows] == [True, False, False]
    assert rows[0].problems[0].found.startswith("malformed JSON")


def test_a_line_of_a_table_below_json_is_an_invalid_row(tmp_path):
    rows = list(json_lines(TextFile(lines(tmp_path / "file", ROW, "id,text", "a,One"))))
    assert [isinstance(row, Rejected) for row in rows] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ([ROW, ROW], {"id", "text"}),
        ([ROW.replace(" ", "")], {"id", "text"}),
        ([f"[{ROW}]"], set()),
        (["[", ROW, "]"], set()),
        (["{", '"a": {}', "}"], set()),
        ([ROW[:-1]], set()),
    ],
)
@pytest.mark.parametrize("quoting", Quoting)
def test_json_in_place_of_a_table_is_refused_once(tmp_path, text, names, quoting):
    path = lines(tmp_path / "file", *text)
    with pytest.raises(OtherKind) as refusal:
        list(table_rows(TextFile(path), ["id"], quoting))
    (problem,) = refusal.value.problems
    assert (problem.field, problem.found) == ("file", "what seems to be JSON")
    assert problem.expected == "a table with a header line (CSV, TSV or XLSX)"
    assert (refusal.value.kind, refusal.value.names) == ("JSON", names)
