import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.imports.reading import tables
from annotation.imports.reading.lines import TextFile
from annotation.imports.reading.quoting import found_quoting
from annotation.imports.reading.records import FileRefused, Rejected
from annotation.imports.reading.tables import Quoting, records, table_rows
from tests.import_files import lines, within_cpu_seconds

FIELD = st.text(st.characters(exclude_characters="\r\n\t\x00\ufeff", exclude_categories=["Cs"]), max_size=12)
TEXT = FIELD | st.sampled_from(['"', '""', '"a"', 'a "b" c', '"a', 'a"', '""": x', " ", ""])
LONG = st.text(st.characters(exclude_characters="\r\x00\ufeff", exclude_categories=["Cs"]), max_size=20)


def read(path, quoting, delimiter="\t"):
    return [record for _, record in records(TextFile(path), delimiter, quoting)]


def rows(path, quoting=Quoting.CSV, needed=()):
    return list(table_rows(TextFile(path), needed, quoting))


def test_a_quoted_field_may_hold_delimiters_quotes_and_line_ends(tmp_path):
    path = lines(tmp_path / "t", "a\tb", '1\t"x\t""y""', 'z"', "2\tplain")
    assert read(path, Quoting.CSV) == [["a", "b"], ["1", 'x\t"y"\nz'], ["2", "plain"]]


def test_without_quoting_quotation_marks_are_kept(tmp_path):
    path = lines(tmp_path / "t", "a\tb", '1\t"x" and "y', '2\t""')
    assert read(path, Quoting.NONE) == [["a", "b"], ["1", '"x" and "y'], ["2", '""']]


def test_an_unclosed_quote_invalidates_only_its_own_line(tmp_path):
    found = read(lines(tmp_path / "t", "a\tb", '1\t"open', "2\tx", '3\t"y"', "4\tz"), Quoting.CSV)
    assert isinstance(found[1], Rejected)
    assert found[1].problems[0].found == "a quote that is not closed"
    assert found[2:] == [["2", "x"], ["3", "y"], ["4", "z"]]


def test_a_quote_closed_in_a_later_row_does_not_merge_rows(tmp_path):
    found = read(lines(tmp_path / "t", "a\tb\tc", '1\t"open\tx', "2\tu\tv", '3\tends"\tw'), Quoting.CSV)
    assert isinstance(found[1], Rejected)
    assert found[2:] == [["2", "u", "v"], ["3", 'ends"', "w"]]


def test_a_quote_closed_within_a_field_invalidates_its_line(tmp_path):
    found = read(lines(tmp_path / "t", "a\tb", '1\t"x"y', "2\tz"), Quoting.CSV)
    assert isinstance(found[1], Rejected)
    assert found[2] == ["2", "z"]


def test_reading_ahead_for_a_closing_quote_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "LONGEST_RECORD", 3)
    found = read(lines(tmp_path / "t", "a,b", '1,"open', "x", "y", "z", 'end"'), Quoting.CSV, ",")
    assert isinstance(found[1], Rejected)


def test_a_row_with_the_wrong_number_of_fields_is_invalid(tmp_path):
    found = rows(lines(tmp_path / "t", "a,b", "1,2,3", "4", "5,6"))
    assert [row.problems[0].found for row in found[:2]] == ["3 fields", "1 field"]
    assert [row.line for row in found] == [2, 3, 4]
    assert found[2].values == {"a": "5", "b": "6"}


def test_blank_lines_are_skipped(tmp_path):
    assert [row.line for row in rows(lines(tmp_path / "t", "a,b", "", "1,2", "  "))] == [3]


@pytest.mark.parametrize(
    ("header", "field", "found"),
    [
        ("a,b,a", "a", "this column twice"),
        ("a,b", "c", "no such column among a, b"),
        (",a,", "header", "twice"),
    ],
)
def test_a_file_with_an_invalid_header_is_refused(tmp_path, header, field, found):
    with pytest.raises(FileRefused) as refusal:
        rows(lines(tmp_path / "t", header, "1,2"), needed=["c"])
    assert any(
        (problem.field, problem.line) == (field, 1) and found in problem.found
        for problem in refusal.value.problems
    )


def test_an_empty_table_is_refused(tmp_path):
    with pytest.raises(FileRefused, match="no line"):
        rows(lines(tmp_path / "t"))


def table(tmp_path_factory, texts, quoting, header=("id", "text")):
    stream = io.StringIO()
    if quoting == Quoting.CSV:
        writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows([[f"row-{number}", text] for number, text in enumerate(texts)])
    else:
        stream.write("\t".join(header) + "\n")
        stream.write("".join(f"row-{number}\t{text}\n" for number, text in enumerate(texts)))
    path = tmp_path_factory.mktemp("table") / "t.tsv"
    path.write_bytes(stream.getvalue().encode())
    return path


@given(st.lists(LONG, max_size=6))
@example(['"', '"\n"', "a\tb\n", '""'])
def test_texts_of_a_csv_writer_are_read_back_unchanged(tmp_path_factory, texts):
    # A text with a line end and one tab may look like a separate row in the middle of a record.
    texts = [text for text in texts if text.count("\t") != 1 or "\n" not in text]
    path = table(tmp_path_factory, texts, Quoting.CSV)
    assert [record[1] for record in read(path, Quoting.CSV)[1:]] == texts


@given(st.lists(TEXT, max_size=8))
def test_neither_quoting_convention_splits_or_merges_rows(tmp_path_factory, texts):
    path = table(tmp_path_factory, texts, Quoting.NONE)
    for quoting in Quoting:
        found = [number for number, _ in records(TextFile(path), "\t", quoting)]
        assert found == list(range(1, len(texts) + 2))


PLAIN_MARKS = ['He said "yes" and left.', '": CSU chief speaks', '"Yes." "No."']
CSV_ONLY = ['He said "yes" and left.', '": CSU chief speaks', '"All of it."', "No mark at all."]


@pytest.mark.parametrize("texts", [PLAIN_MARKS, CSV_ONLY, ['"All of it."', *["plain"] * 5]])
def test_the_quoting_convention_is_detected_from_the_texts(tmp_path_factory, texts):
    for written in Quoting:
        path = table(tmp_path_factory, texts, written)
        quoting = found_quoting(TextFile(path))
        assert quoting == written
        assert [record[1] for record in read(path, quoting)[1:]] == texts


def test_quotes_around_every_text_are_detected_as_csv(tmp_path):
    path = lines(tmp_path / "t", "id\ttext", '1\t"one"', '2\t"two"', '3\t"three"')
    assert found_quoting(TextFile(path)) == Quoting.CSV


def test_one_invalid_row_does_not_change_the_detected_convention(tmp_path):
    good = ['1\tHe said "yes".', '2\t"It" is', "3\tx"]
    path = lines(tmp_path / "t", "id\ttext", *good, "4\ttoo\tmany")
    assert found_quoting(TextFile(path)) == Quoting.NONE


def test_records_over_several_lines_are_detected_as_csv(tmp_path):
    path = lines(tmp_path / "t", "id\ttext", '1\t"first line', 'second line"', "2\tplain")
    assert found_quoting(TextFile(path)) == Quoting.CSV


def test_without_quotes_the_convention_does_not_matter(tmp_path):
    path = lines(tmp_path / "t", "id\ttext", "1\tone")
    assert read(path, Quoting.CSV) == read(path, Quoting.NONE)


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_header_of_a_million_columns_is_refused_at_once(tmp_path, delimiter):
    path = lines(tmp_path / "t", delimiter.join(f"c{number % 500_000}" for number in range(1_000_000)))
    with (
        within_cpu_seconds(20),
        pytest.raises(FileRefused, match=r"t, line 1, header.*at most 1,000 columns"),
    ):
        rows(path)


def test_a_message_lists_some_columns_and_counts_the_rest(tmp_path):
    path = lines(tmp_path / "t", ",".join(f"c{number}" for number in range(1000)))
    with pytest.raises(FileRefused, match=r"among c0, .*, c19 and 980 more, expected"):
        rows(path, needed=["a"])


@pytest.mark.parametrize(
    "line",
    [
        'a","bbb',
        'a,"b',
        'a,"',
        '"""',
        ',"""',
        '"a"",',
        'a,"b\n' + "c\n" * 50,
        'a","bbb' + "," * 900,
    ],
)
@pytest.mark.parametrize("columns", [3, 1000])
def test_unclosed_quotes_are_read_in_linear_time(tmp_path, line, columns):
    path = lines(tmp_path / "t", ",".join(f"c{number}" for number in range(columns)), *[line] * 4000)
    with within_cpu_seconds(40):
        assert len(read(path, Quoting.CSV, ",")) > 1000


def test_a_record_over_a_thousand_lines_is_read(tmp_path):
    text = "\n".join(["first", *["more"] * 998, "last"])
    path = lines(tmp_path / "t", "a,b", f'1,"{text}"', "2,x")
    assert read(path, Quoting.CSV, ",")[1:] == [["1", text], ["2", "x"]]


def test_a_carriage_return_after_the_closing_quote_ends_the_line(tmp_path):
    path = lines(tmp_path / "t", "a,b\r\r", '1,"x\r\r', 'y"\r\r', "2,z\r")
    assert read(path, Quoting.CSV, ",")[1] == ["1", "x\r\r\ny"]
