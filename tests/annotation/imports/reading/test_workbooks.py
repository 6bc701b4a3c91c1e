import csv
import io
import struct
import zipfile
from contextlib import suppress
from datetime import date, datetime, time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.xml.constants import SHEET_MAIN_NS

from annotation.imports.reading import workbooks
from annotation.imports.reading.importer import open_file, open_import
from annotation.imports.reading.kinds import OtherKind
from annotation.imports.reading.records import FileRefused, Rejected
from annotation.imports.reading.tables import table_rows
from tests.import_files import read, workbook

SHEET = "xl/worksheets/sheet1.xml"
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def rows(path, needed=(), sheet=""):
    return list(table_rows(open_file(path, sheet=sheet), needed))


def values(path):
    return [row.values for row in rows(path)]


def sheet_xml(*rows, before="", head=""):
    return (
        f'{head}<worksheet xmlns="{SHEET_MAIN_NS}">{before}<sheetData>{"".join(rows)}</sheetData></worksheet>'
    )


def with_part(path, name, content, **options):
    """Replace a part of a workbook."""
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()} | {name: content}
    with zipfile.ZipFile(path, "w", **({"compression": zipfile.ZIP_DEFLATED} | options)) as archive:
        for each, data in parts.items():
            archive.writestr(each, data)
    return path


def refusal(path, **options):
    with pytest.raises(FileRefused) as refused:
        rows(path, **options)
    return refused.value.problems[0]


def test_cells_read_as_csv_has_them(tmp_path):
    cells = ["text ", 4, 4.0, 0.1, 1e300, -2.5e-9, True, False, date(2024, 5, 17), None]
    cells += [datetime(2024, 5, 17, 9, 30), time(9, 30), "007"]
    names = [f"c{number}" for number in range(len(cells))]
    (row,) = rows(workbook(tmp_path / "w.xlsx", names, cells))
    assert list(row.values.values()) == [
        *("text ", "4", "4", "0.1", "1e+300", "-2.5e-09", "true", "false", "2024-05-17", ""),
        *("2024-05-17T09:30:00", "09:30:00", "007"),
    ]


def test_a_carriage_return_that_excel_escaped_is_read_as_one(tmp_path):
    assert values(workbook(tmp_path / "w.xlsx", ["a"], ["x_x000D_\ny"])) == [{"a": "x\r\ny"}]


def test_a_workbook_is_recognised_by_its_content(tmp_path):
    assert values(workbook(tmp_path / "w.csv", ["a"], ["x"])) == [{"a": "x"}]


def test_rows_have_their_numbers_and_empty_ones_are_skipped(tmp_path):
    found = rows(workbook(tmp_path / "w.xlsx", [], ["a", "b"], [], ["x"], [None, None], ["y", "z"]))
    assert [(row.line, row.values) for row in found] == [
        (4, {"a": "x", "b": ""}),
        (6, {"a": "y", "b": "z"}),
    ]


def test_a_cell_outside_the_header_makes_its_row_invalid(tmp_path):
    wrong, right = rows(workbook(tmp_path / "w.xlsx", ["a", None], ["x", None, "y"], ["z"]))
    assert str(wrong.problems[0]).endswith(
        "line 2, line: found 3 fields, expected 1 fields, as in the header"
    )
    assert right.values == {"a": "z"}


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ('<c r="B2" t="e"><v>#N/A</v></c>', "the error '#N/A'"),
        ('<c r="B2" t="e"><f>1/0</f><v>#REF!</v></c>', "the error '#REF!'"),
        ('<c r="B2"><f>1+1</f></c>', "a formula without a stored value"),
        ('<c r="B2"><f>1+1</f><v/></c>', "a formula without a stored value"),
        ('<c r="B2"><f>1+1</f><v></v>\n</c>', "a formula without a stored value"),
    ],
)
def test_errors_and_uncalculated_formulas_are_problems_of_their_row(tmp_path, cell, found):
    path = with_part(
        workbook(tmp_path / "w.xlsx", ["a"]),
        SHEET,
        sheet_xml(
            '<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>b</v></c></row>',
            f'<row r="2"><c r="A2"><v>1</v></c>{cell}</row>',
            '<row r="3"><c r="A3"><f>1+1</f><v>2</v></c><c r="B3" t="str"><f>T(1)</f><v></v></c></row>',
        ),
    )
    wrong, right = rows(path)
    assert isinstance(wrong, Rejected)
    assert [(each.line, each.field, each.found) for each in wrong.problems] == [(2, "b", found)]
    assert wrong.row["a"] == "1"
    assert right.values == {"a": "2", "b": ""}


def test_an_error_in_the_header_refuses_the_file(tmp_path):
    path = workbook(tmp_path / "w.xlsx", ["a", "=1+1"], ["x", "y"])
    assert refusal(path).field == "column B"


def test_the_first_sheet_with_cells_is_read_and_a_note_says_so(tmp_path):
    book = Workbook()
    for name in ("Ratings", "Other"):
        sheet = book.create_sheet(name)
        sheet.append(["a"])
        sheet.append([name])
    book.save(tmp_path / "w.xlsx")
    file = open_file(tmp_path / "w.xlsx")
    assert [row.values for row in table_rows(file, ())] == [{"a": "Ratings"}]
    assert file.notes == [
        "The workbook has 2 sheets with cells, and 'Ratings' was read. To read another one, name it (on the "
        "command line: --sheet): Other."
    ]
    named = open_file(tmp_path / "w.xlsx", sheet="Other")
    assert [row.values for row in table_rows(named, ())] == [{"a": "Other"}]
    assert not named.notes
    assert refusal(tmp_path / "w.xlsx", sheet="other").expected == "one of Sheet, Ratings, Other"


def test_the_option_names_the_sheet(tmp_path):
    path = workbook(tmp_path / "w.xlsx", ["a"])
    with pytest.raises(FileRefused, match="found 'Missing', expected one of Sheet"):
        read("gold", path, sheet="Missing")


def test_declared_dimensions_are_not_trusted(tmp_path):
    path = with_part(
        workbook(tmp_path / "w.xlsx", ["a"]),
        SHEET,
        sheet_xml(
            '<row><c t="str"><v>a</v></c></row><row><c t="str"><v>x</v></c></row>',
            before='<dimension ref="A1:A1"/>',
        ),
    )
    assert values(path) == [{"a": "x"}]


def test_lines_are_counted_and_read_for_progress(tmp_path):
    file = open_file(workbook(tmp_path / "w.xlsx", ["a"], *[[str(number)] for number in range(20)]))
    calls = []
    file.watch = lambda: calls.append(file.lines_read)
    assert file.count_lines() == 21
    assert len(list(table_rows(file, ()))) == 20
    assert file.lines_read == 21
    assert calls[-1] == 20


def test_what_watches_may_stop_the_reading(tmp_path):
    class StoppedError(Exception):
        pass

    def stop():
        raise StoppedError

    file = open_file(workbook(tmp_path / "w.xlsx", ["a"], ["x"]))
    file.watch = stop
    with pytest.raises(StoppedError):
        file.count_lines()


def test_a_format_that_reads_json_refuses_a_workbook_and_names_others(tmp_path):
    path = workbook(tmp_path / "w.xlsx", ["gem_id", "model"], ["x", "y"])
    for name in ("bartscore", "summeval"):
        with pytest.raises(OtherKind) as refused:
            list(open_import(name, path).entries())
        assert refused.value.names == {"gem_id", "model"}
        assert refused.value.problems[0].found == "an Excel workbook"


def test_other_zip_archives_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "w.xlsx", "w") as archive:
        archive.writestr("content.xml", "<a/>")
    assert refusal(tmp_path / "w.xlsx").found == "a zip archive without an Excel workbook"


def test_old_and_encrypted_workbooks_are_refused(tmp_path):
    (tmp_path / "w.xls").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    problem = refusal(tmp_path / "w.xls")
    assert problem.found == "an Excel file in the old format (.xls) or with a password"
    assert problem.expected == "a workbook saved as .xlsx without a password, or a CSV file"


def test_an_empty_workbook_is_refused(tmp_path):
    assert refusal(workbook(tmp_path / "w.xlsx")).found == "a workbook without cells"


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_without_a_limit_are_refused(tmp_path, compression):
    path = with_part(workbook(tmp_path / "w.xlsx", ["a"]), "x", "y", compression=compression)
    assert refusal(path).found == "another compression than Deflate"


def test_a_workbook_that_unpacks_over_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "LARGEST_WORKBOOK", 1024**2)
    path = with_part(workbook(tmp_path / "w.xlsx", ["a"]), "xl/media/image.png", bytes(1024**2))
    assert refusal(path).found.startswith("a workbook that unpacks to over 1 MiB")


def test_a_zip_archive_that_understates_a_part_is_refused(tmp_path):
    path = with_part(workbook(tmp_path / "w.xlsx", ["a"]), SHEET, sheet_xml(" " * 10_000_000))
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo(SHEET).file_size
    assert data.count(struct.pack("<L", size)) == 2  # in the part's own header and in the directory
    path.write_bytes(data.replace(struct.pack("<L", size), struct.pack("<L", 300)))
    assert refusal(path).found.startswith("damaged: Bad CRC-32")


def test_a_message_quotes_little_of_a_damaged_archive(tmp_path):
    path = with_part(workbook(tmp_path / "w.xlsx", ["a"]), "x", bytes(range(256)) * 40)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("x").header_offset
    data[start + 27] = 20  # the name in the part's own header seems to have 5,121 bytes
    path.write_bytes(data)
    assert len(refusal(path).found) <= 220


@pytest.mark.parametrize("part", [SHEET, "xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml"])
def test_entities_are_never_expanded(tmp_path, part):
    path = workbook(tmp_path / "w.xlsx", ["a"], ["x"])
    assert refusal(with_part(path, part, f"{BOMB}]><x>&i;</x>")).found == "an XML document type in a workbook"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (sheet_xml('<row r="1048577"/>'), "row 1,048,577"),
        (sheet_xml('<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'), "row 99,999,999,999"),
        (sheet_xml('<row r="2"/><row r="2"/>'), "damaged: row 2 follows row 2"),
        (sheet_xml('<row r="x"/>'), "damaged: "),
        (sheet_xml('<row r="1">' + "<c/>" * 1_000_001 + "</row>"), "a workbook that unpacks to over"),
        (sheet_xml("<row/>" * 1_048_577), "row 1,048,577"),
        (sheet_xml(before="<x/>" * 1_000_001), "a workbook that unpacks to over"),
        (sheet_xml(before=f"<x {' ' * 11 * 1024**2} y='1'/>"), "a workbook that unpacks to over"),
        (sheet_xml('<row><c t="s"><v>7</v></c></row>'), "damaged: "),
        (sheet_xml('<row><c t="str"><v>a</v></c></row>')[:-30], "damaged: "),
        ("no XML", "damaged: "),
    ],
)
def test_sheets_that_no_program_writes_are_refused(tmp_path, content, found):
    path = with_part(workbook(tmp_path / "w.xlsx", [1]), SHEET, content)
    assert refusal(path).found.startswith(found)


def test_over_a_thousand_columns_are_refused(tmp_path):
    path = workbook(tmp_path / "w.xlsx", [f"c{number}" for number in range(1001)])
    assert refusal(path).found == "1,001 columns"


def test_sheets_that_share_a_large_part_are_refused(tmp_path):
    path = workbook(tmp_path / "w.xlsx", ["a"])
    noise = "".join(f"<c><v>{number * 7919 % 1_000_003}</v></c>" for number in range(200_000))
    with_part(path, SHEET, sheet_xml(f"<row>{noise}</row>"))
    with zipfile.ZipFile(path) as archive:
        book = archive.read("xl/workbook.xml").decode()
    sheet = book[book.index("<sheet ") : book.index("</sheets>")]
    many = "".join(sheet.replace('name="Sheet"', f'name="S{n}"') for n in range(100))
    assert refusal(with_part(path, "xl/workbook.xml", book.replace(sheet, many))).found == (
        "damaged: several sheets share one part"
    )


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_damaged_workbook_is_read_or_refused(tmp_path, data):
    with zipfile.ZipFile(workbook(tmp_path / "w.xlsx", ["a", "b"], [1, "x"], [True, None])) as archive:
        part = data.draw(st.sampled_from(archive.namelist()))
        content = bytearray(archive.read(part))
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] = data.draw(st.integers(32, 126))
    with suppress(FileRefused):
        rows(with_part(tmp_path / "w.xlsx", part, bytes(content)))


CELL = st.text(
    st.characters(exclude_characters="\r\ufeff\ufffe\uffff", exclude_categories=["Cs", "Cc"]), max_size=12
)


@given(st.lists(st.lists(CELL, min_size=3, max_size=3), max_size=5))
@example([["1.0", "=x", "a\nb"], ['"', ";", ","], ["", "", ""], [" ", "x", " "], ["007", "true", "1e5"]])
@example([["_x000D_", "_x005F_x000D_", "a_x"]])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_table_reads_equally_from_every_kind_of_file(tmp_path, table):
    table = [row for row in table if any(each.strip() for each in row)]
    header = ["article_id", "b", "c"]
    found = [values(workbook(tmp_path / "w.xlsx", header, *table, as_text=True))]
    for delimiter in ",;\t":
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerows([header, *table])
        path = tmp_path / "t"
        path.write_bytes(stream.getvalue().encode())
        found.append(values(path))
    assert found == [[dict(zip(header, row, strict=True)) for row in table]] * 4
