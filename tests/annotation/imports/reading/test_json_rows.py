import gzip
import json

import pytest

from annotation.imports.reading import json_rows
from annotation.imports.reading.json_rows import is_one_object, json_lines, json_members
from annotation.imports.reading.lines import TextFile
from annotation.imports.reading.records import FileRefused, Rejected, Row
from tests.import_files import within_cpu_seconds

ROW = frozenset({"src"})


def written(tmp_path, text):
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    return TextFile(path)


def problem_of(tmp_path, text):
    (rejected,) = [row for row in json_lines(written(tmp_path, text)) if isinstance(row, Rejected)]
    return rejected.problems[0]


def test_it_reads_one_object_per_line_and_skips_blank_lines(tmp_path):
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
def test_it_reports_a_line_that_is_not_an_object_and_reads_on(tmp_path, line, found):
    problem = problem_of(tmp_path, f'{{"a": 1}}\n{line}\n{{"a": 2}}\n')
    assert (problem.line, problem.field, problem.expected) == (2, "line", "one JSON object")
    assert found in problem.found


def test_a_malformed_first_line_is_an_invalid_row_not_a_document(tmp_path):
    assert problem_of(tmp_path, '{"a": 1,\n{"a": 2}\n').line == 1


def test_one_document_over_several_lines_is_refused(tmp_path):
    with pytest.raises(FileRefused, match="one JSON document over several lines"):
        list(json_lines(written(tmp_path, json.dumps([{"a": 1}], indent=1))))


def test_a_malformed_document_is_refused_with_the_line_of_the_error(tmp_path):
    with pytest.raises(FileRefused, match="line 3, file: found malformed JSON at column 10"):
        list(json_lines(written(tmp_path, '{\n "a": 1,\n "b": "x"y"\n}\n')))


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(FileRefused, match="no line"):
        list(json_lines(written(tmp_path, "\n  \n")))


@pytest.mark.parametrize("indent", [None, 1])
def test_members_of_one_object_keep_their_line_numbers(tmp_path, indent):
    file = written(tmp_path, json.dumps({"x": {"src": "a"}, "y": {"src": "b"}}, indent=indent))
    assert is_one_object(file, ROW)
    found = [(key, row.line, row.values["src"]) for key, row in json_members(file)]
    assert found == ([("x", 1, "a"), ("y", 1, "b")] if indent is None else [("x", 2, "a"), ("y", 5, "b")])


def test_json_lines_are_not_taken_for_one_object(tmp_path):
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
def test_a_malformed_object_is_refused_with_its_line(tmp_path, text, line, fault):
    with pytest.raises(FileRefused) as refusal:
        list(json_members(written(tmp_path, text)))
    assert refusal.value.problems[0].line == line
    assert fault in refusal.value.problems[0].found


def test_a_member_that_is_not_an_object_is_an_invalid_row(tmp_path):
    members = dict(json_members(written(tmp_path, '{"x": {"src": "a"},\n"y": [1]}')))
    assert members["y"].problems[0].line == 2


def test_a_real_malformed_file_is_refused_with_its_line(shared, tmp_path):
    path = shared / "data/goyal2022/test-500.newsroom.malformed.json.gz"
    for reader in (json_lines, json_members):
        with pytest.raises(FileRefused) as refusal:
            list(reader(TextFile(path)))
        assert [problem.line for problem in refusal.value.problems] == [4997]
    mended = gzip.decompress(path.read_bytes()).decode().replace('to roll."nJordan', "to roll. Jordan")
    with pytest.raises(FileRefused) as refusal:  # for the next error or the cut-off end
        list(json_members(written(tmp_path, mended[:2_000_000])))
    assert refusal.value.problems[0].line > 4000


def test_a_repeated_key_is_found_in_linear_time(tmp_path):
    pairs = ", ".join(f'"k{number}": 1' for number in range(9_999))
    with within_cpu_seconds(20):
        for _ in range(10):
            problem = problem_of(tmp_path, f'{{"a": 1}}\n{{{pairs}, "k9998": 2}}\n')
    assert problem.found == "the key 'k9998' twice in one object"


def test_an_object_with_too_many_keys_is_refused_with_the_limit(tmp_path):
    keys = ", ".join(f'"k{number}": 1' for number in range(20_000))
    problem = problem_of(tmp_path, f'{{"a": 1}}\n{{"a": {{{keys}}}}}\n')
    assert (problem.line, problem.found) == (2, "an object with 20,000 keys, over the limit of 10,000")


def test_the_limit_on_keys_does_not_apply_to_rows_of_one_object(tmp_path):
    file = written(tmp_path, json.dumps({str(number): {"src": "a"} for number in range(20_000)}))
    assert is_one_object(file, ROW)
    with within_cpu_seconds(20):
        assert len(list(json_members(file))) == 20_000


@pytest.mark.parametrize("opening", ["[", '{"a": '])
@pytest.mark.parametrize("levels", [100, 900, 960, 985, 990, 995, 100_000])
def test_json_nested_too_deeply_is_refused_at_any_depth(tmp_path, opening, levels):
    inside = "[]" if opening == "[" else "{}"
    deep = opening * levels + inside + ("]" if opening == "[" else "}") * levels
    problem = problem_of(tmp_path, f'{{"a": 1}}\n{{"a": {deep}}}\n')
    assert "JSON nested too deeply, over 100 levels" in problem.found
    with pytest.raises(FileRefused, match="nested too deeply"):
        list(json_members(written(tmp_path, f'{{"x": {{"a": {deep}}}}}')))


def test_many_brackets_without_nesting_are_accepted(tmp_path):
    (row,) = json_lines(written(tmp_path, json.dumps({"a": [[]] * 1000, "b": "[" * 1000})))
    assert isinstance(row, Row)


def test_a_large_document_is_refused_without_being_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(json_rows, "LARGEST_EXPLAINED", 100)
    with pytest.raises(FileRefused, match="one document over 100 bytes, expected one JSON object a line"):
        list(json_lines(written(tmp_path, "[\n" + "[],\n" * 100)))


def test_a_long_repeated_key_is_shortened_in_the_message(tmp_path):
    key = json.dumps("k" * 100_000)
    assert len(problem_of(tmp_path, f'{{"a": 1}}\n{{{key}: 1, {key}: 2}}\n').found) < 200
