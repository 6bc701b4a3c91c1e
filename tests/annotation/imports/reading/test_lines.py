import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.reading import lines
from annotation.imports.reading.lines import TextFile, unstorable
from annotation.imports.reading.records import FileRefused, Problem
from tests.import_files import within_cpu_seconds

UNUSUAL_BREAKS = "a\u2028b\x0bc\x0cd\x85e\rf"


def read(path):
    return list(TextFile(path).lines())


def written(tmp_path, data, name="file.txt"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_it_numbers_lines_and_drops_their_ends(tmp_path):
    assert read(written(tmp_path, b"one\r\n\ntwo\nlast")) == [(1, "one"), (2, ""), (3, "two"), (4, "last")]


def test_it_breaks_lines_at_line_feeds_only(tmp_path):
    assert read(written(tmp_path, f"{UNUSUAL_BREAKS}\n".encode())) == [(1, UNUSUAL_BREAKS)]


def test_it_accepts_a_byte_order_mark_at_the_start_only(tmp_path):
    assert read(written(tmp_path, "\ufeffone\n\ufefftwo\n".encode())) == [(1, "one"), (2, "\ufefftwo")]


def test_it_recognises_gzip_by_content_not_by_name(tmp_path):
    assert read(written(tmp_path, gzip.compress(b"one\ntwo\n"), "plain.tsv")) == [(1, "one"), (2, "two")]


def test_it_counts_lines_with_and_without_a_last_line_feed(tmp_path):
    assert TextFile(written(tmp_path, b"a\nb\n")).count_lines() == 2
    assert TextFile(written(tmp_path, b"a\nb")).count_lines() == 2
    assert TextFile(written(tmp_path, b"")).count_lines() == 0


def test_it_reports_a_byte_that_is_not_utf8_and_reads_on(tmp_path):
    found = read(written(tmp_path, b"good\nbad \xff\ngood\n"))
    assert found[1][1] == Problem("file.txt", 2, "line", "byte 0xff at byte 5 of the line", "UTF-8")
    assert found[2] == (3, "good")


def test_it_reports_a_line_with_a_nul_byte(tmp_path):
    problem = read(written(tmp_path, b"good\nba\x00d\n"))[1][1]
    assert (problem.line, problem.found) == (2, "a NUL byte at byte 3")


def test_it_refuses_a_line_that_is_too_long_and_reads_on(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 10)
    found = read(written(tmp_path, b"short\n" + b"x" * 35 + b"\nshort\n"))
    assert found[0] == (1, "short")
    assert isinstance(found[1][1], Problem)
    assert "over 10 bytes" in found[1][1].found
    assert found[2] == (3, "short")


def test_it_refuses_a_file_that_unpacks_over_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LARGEST_FILE", 100)
    with pytest.raises(FileRefused, match="over 100 bytes"):
        read(written(tmp_path, gzip.compress(b"x" * 9 + b"\n") * 50))


def test_it_refuses_a_cut_off_gzip_file_naming_the_line(tmp_path):
    data = gzip.compress(b"".join(b"line %d\n" % number for number in range(5000)))
    with pytest.raises(FileRefused, match=r"line \d+, file: found damaged"):
        read(written(tmp_path, data[:-20]))


def test_it_refuses_a_gzip_file_with_a_flipped_bit(tmp_path):
    data = bytearray(gzip.compress(b"some text that is compressed\n" * 50))
    data[-6] ^= 1
    with pytest.raises(FileRefused, match="damaged"):
        read(written(tmp_path, bytes(data)))


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PK\x03\x04rest", "a zip archive or an Excel workbook"),
        (b"PAR1rest", "a Parquet file"),
        (b"%PDF-1.7", "a PDF"),
        ("id\tx".encode("utf-16"), "UTF-16"),
    ],
)
def test_it_names_the_type_of_an_unsupported_file(tmp_path, head, kind):
    with pytest.raises(FileRefused, match=f"found {kind}, expected text in UTF-8, such as JSONL or CSV"):
        read(written(tmp_path, head))


def test_a_text_may_begin_like_the_name_of_another_type(tmp_path):
    assert read(written(tmp_path, b"PK,PDF\n")) == [(1, "PK,PDF")]


def test_it_refuses_a_missing_file(tmp_path):
    with pytest.raises(FileRefused, match="no such file"):
        TextFile(tmp_path / "nothing.tsv")


def test_it_refuses_a_folder(tmp_path):
    with pytest.raises(FileRefused, match="no such file"):
        TextFile(tmp_path)


def test_a_document_in_another_encoding_is_refused_with_its_line(tmp_path):
    with pytest.raises(FileRefused, match="line 2"):
        TextFile(written(tmp_path, b'{"a":\n"\xe9"}')).text()


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\x00", exclude_categories=["Cs"]))))
def test_any_written_lines_are_read_back_unchanged(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("lines") / "file.txt"
    path.write_bytes(("first\n" + "".join(f"{text}\n" for text in texts)).encode())
    assert [line for _, line in TextFile(path).lines()] == ["first", *texts]


@pytest.mark.parametrize("text", ["nul \x00", "half \ud83d"])
def test_texts_that_databases_cannot_store_are_reported(text):
    assert unstorable(text)


def test_other_texts_can_be_stored():
    assert unstorable("Grüße, привет, 😀") is None


@pytest.mark.parametrize("read_through", [read, lambda path: TextFile(path).count_lines()])
def test_it_refuses_a_file_with_too_many_lines(tmp_path, monkeypatch, read_through):
    monkeypatch.setattr(lines, "MOST_LINES", 100)
    assert read_through(written(tmp_path, gzip.compress(b"\n" * 100)))
    with pytest.raises(FileRefused, match=r"file.txt, line \d+, file: found over 100 lines"):
        read_through(written(tmp_path, gzip.compress(b"\n" * 101)))


def test_counting_lines_stops_at_the_file_size_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LARGEST_FILE", 1000)
    with pytest.raises(FileRefused, match="over 1,000 bytes"):
        TextFile(written(tmp_path, gzip.compress(b"x" * 1001))).count_lines()


def test_a_line_of_100_mb_is_skipped(tmp_path):
    path = written(tmp_path, gzip.compress(b"x" * 100_000_000 + b"\nshort\n", 1))
    with within_cpu_seconds(20):
        found = read(path)
    assert "over 10,485,760 bytes" in found[0][1].found
    assert found[1] == (2, "short")


def test_a_watcher_can_stop_the_reading(tmp_path):
    class Stop(Exception):
        pass

    def stop():
        raise Stop

    file = TextFile(written(tmp_path, b"one\ntwo\n"))
    file.watch = stop
    for read_through in (lambda: list(file.lines()), file.text, file.count_lines):
        with pytest.raises(Stop):
            read_through()
