from pathlib import Path

import pytest

from annotation.errors import DomainError
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.protocol import SUMMEVAL
from tests.annotation.exports.exporting_steps import exported, rate
from tests.factories import make_article, make_project, make_rater, make_summary
from tests.import_files import SEAHORSE_HEADER, lines, seahorse_row

pytestmark = pytest.mark.django_db


def test_released_files_come_out_as_they_went_in(shared):
    project = make_project()
    lines_in = set()
    for path in sorted((shared / "data" / "seahorse").glob("*.tsv")):
        import_file(project, open_import("seahorse", path))
        lines_in.update(path.read_bytes().splitlines(keepends=True))
    found = exported(project, "seahorse").splitlines(keepends=True)
    assert len(found) > 50
    assert sorted(found) == sorted(lines_in)


def test_a_repeated_rating_stays_a_row_of_its_own(tmp_path: Path):
    project = make_project()
    no = "\t".join(["No", *[""] * 5])
    path = lines(
        tmp_path / "a.tsv", SEAHORSE_HEADER, seahorse_row(), seahorse_row(), seahorse_row(answers=no)
    )
    import_file(project, open_import("seahorse", path))
    assert exported(project, "seahorse") == path.read_bytes()


def test_quotes_tabs_and_line_ends_are_read_back(tmp_path: Path):
    project, text = make_project(), 'a "b"\tc\r\nd\re'
    rate(
        make_summary(project, article=make_article(project, external_id="xsum-test-1"), text=text),
        make_rater(project),
        comprehensibility="no",
    )
    path = tmp_path / "a.tsv"
    path.write_bytes(exported(project, "seahorse"))
    (entry,) = open_import("seahorse", path).entries()
    assert entry.summaries[0].text == text


def test_a_project_with_other_questions_is_refused():
    with pytest.raises(DomainError, match="does not ask comprehensibility with one of yes, no, unsure"):
        exported(make_project(SUMMEVAL), "seahorse")
