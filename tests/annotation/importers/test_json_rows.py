import gzip
import json

import pytest

from annotation.importers.json_rows import is_one_object, json_lines, json_members
from annotation.importers.lines import TextFile
from annotation.importers.records import FileRefused, Rejected

ROW = frozenset({"src"})


def written(tmp_path, text):
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    return TextFile(path)


def problem_of(tmp_path, text):
    (rejected,) = [row for row in json_lines(written(tmp_path, text)) if isinstance(row, Rejected)]
    return rejected.problems[0]


def test_it_reads_one_object_a_line_and_skips_blank_ones(tmp_path):
    rows = list(json_lines(written(tmp_path, '{"a": 1}\n\n{"a": 2}')))
    assert [(row.line, row.values) for row in rows] == [(1, {"a": 1}), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"a": 1', "malformed JSON at column 8"),
        ('{"a": NaN}', "NaN, which is not JSON"),
        ('{"a": -Infinity}', "-Infinity, which is not JSON"),
        ('{"a": 1, "a": 2}', "the key 'a' twice in one object"),
        ('{"b": {"a": 1, "a": 2}}', "the key 'a' twice in one object"),
        ("[1, 2]", "[1, 2]"),
        ('"text"', "'text'"),
        ("[" * 100_000, "JSON nested too deeply"),
        ("1" * 5000, "limit"),
    ],
)
def test_it_names_the_line_that_is_no_object_and_reads_on(tmp_path, line, found):
    problem = problem_of(tmp_path, f'{{"a": 1}}\n{line}\n{{"a": 2}}\n')
    assert (problem.line, problem.field, problem.expected) == (2, "line", "one JSON object")
    assert found in problem.found


def test_a_broken_first_line_is_a_wrong_row_and_no_document(tmp_path):
    assert problem_of(tmp_path, '{"a": 1,\n{"a": 2}\n').line == 1


def test_a_document_over_several_lines_is_refused_as_such(tmp_path):
    with pytest.raises(FileRefused, match="one JSON document over several lines"):
        list(json_lines(written(tmp_path, json.dumps([{"a": 1}], indent=1))))


def test_a_malformed_document_is_refused_with_the_line_of_its_fault(tmp_path):
    with pytest.raises(FileRefused, match="line 3, file: found malformed JSON at column 10"):
        list(json_lines(written(tmp_path, '{\n "a": 1,\n "b": "x"y"\n}\n')))


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(FileRefused, match="no line"):
        list(json_lines(written(tmp_path, "\n  \n")))


@pytest.mark.parametrize("indent", [None, 1])
def test_the_members_of_one_object_have_their_lines(tmp_path, indent):
    file = written(tmp_path, json.dumps({"x": {"src": "a"}, "y": {"src": "b"}}, indent=indent))
    assert is_one_object(file, ROW)
    found = [(key, row.line, row.values["src"]) for key, row in json_members(file)]
    assert found == ([("x", 1, "a"), ("y", 1, "b")] if indent is None else [("x", 2, "a"), ("y", 5, "b")])


def test_rows_a_line_are_told_from_one_object(tmp_path):
    assert not is_one_object(written(tmp_path, '{"id": "x", "src": "a"}\n{"id": "y", "src": "b"}\n'), ROW)


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ('{"x": {}, "x": {}}', 1, "the key 'x' twice"),
        ('{"x": {},\n"y": {"a": 1, "a": 2}}', 2, "the key 'a' twice"),
        ('{"x": {}\n"y": {}}', 2, "delimiter"),
        ('{"x": {},\n}', 2, "trailing comma"),
        ('{"x": {}}\n{"y": {}}', 2, "Extra data"),
        ('{"x": {"a": nope}}', 1, "Expecting value"),
        ('{"x" {}}', 1, "Expecting ':'"),
        ("[]", 1, "Expecting '{'"),
        ("{x: 1}", 1, "property name"),
        ("{}", 1, "an empty object"),
        ('{"x": {"a": NaN}}', 1, "NaN"),
        ('{"x": {"a": "cut off', 1, "Unterminated"),
        ("", 1, "Expecting '{'"),
    ],
)
def test_an_object_that_is_not_well_formed_is_refused_whole_with_its_line(tmp_path, text, line, fault):
    with pytest.raises(FileRefused) as refusal:
        list(json_members(written(tmp_path, text)))
    assert refusal.value.problems[0].line == line
    assert fault in refusal.value.problems[0].found


def test_a_member_that_is_no_object_is_a_wrong_row(tmp_path):
    members = dict(json_members(written(tmp_path, '{"x": {"src": "a"},\n"y": [1]}')))
    assert members["y"].problems[0].line == 2


def test_the_malformed_file_of_real_life_is_refused_at_its_line(shared, tmp_path):
    path = shared / "data/goyal2022/test-500.newsroom.malformed.json.gz"
    for reader in (json_lines, json_members):
        with pytest.raises(FileRefused) as refusal:
            list(reader(TextFile(path)))
        assert [problem.line for problem in refusal.value.problems] == [4997]
    mended = gzip.decompress(path.read_bytes()).decode().replace('to roll."nJordan', "to roll. Jordan")
    with pytest.raises(FileRefused) as refusal:  # the next fault of the same line, or none
        list(json_members(written(tmp_path, mended[:2_000_000])))
    assert refusal.value.problems[0].line > 4000
