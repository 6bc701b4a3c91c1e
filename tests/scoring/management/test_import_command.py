"""manage.py import and create_project, as users call them."""

import json
import shlex

import pytest
from django.core.management import CommandError, call_command
from openpyxl import Workbook

from annotation.imports.formats import IMPORTERS
from annotation.models import Membership, Project, Rating
from scoring.models import Score
from tests.factories import make_article, make_project, make_summary, make_system, make_user
from tests.import_files import SEAHORSE_HEADER, jsonl, lines, seahorse_row, workbook

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(slug="birds")


@pytest.fixture
def run(project, capsys):
    """Return a function that runs the command on the project birds: (exit code, output, errors)."""

    def call(format_name, path, *flags, slug="birds"):
        code, message = 0, ""
        try:
            call_command("import", format_name, str(path), "--project", slug, *flags)
        except CommandError as error:
            code, message = error.returncode, str(error)
        output, errors = capsys.readouterr()
        return code, output, errors + message

    return call


def test_valid_file_is_imported(run, tmp_path):
    code, output, errors = run("seahorse", lines(tmp_path / "r.tsv", SEAHORSE_HEADER, seahorse_row()))
    assert code == 0
    assert "ratings: 1 new" in output
    assert "articles by language: en 1" in output
    assert "checking: 2 of 2 rows" in errors
    assert Rating.objects.count() == 1


def test_invalid_file_is_refused_with_every_invalid_row(run, tmp_path):
    path = lines(tmp_path / "r.tsv", SEAHORSE_HEADER, "broken", seahorse_row(), "also\tbroken")
    code, _, errors = run("seahorse", path)
    assert code == 2
    assert "r.tsv, line 2, line: found 1 field, expected 10 fields, as in the header" in errors
    assert "r.tsv, line 4, line: found 2 fields" in errors
    assert "2 rows are invalid. Correct or skip them. Nothing was loaded of r.tsv" in errors
    assert not Rating.objects.exists()


def test_missing_columns_are_refused_with_the_mapping_that_seems_to_fit(run, tmp_path):
    article, output = "The harbour froze over. " * 20, "Ships waited in the frozen harbour."
    path = workbook(tmp_path / "r.xlsx", ["DocID", "full text", "the output"], ["a", article, output])
    flags = ["--map", "system==gpt 4"]
    code, _, errors = run("examples", path, *flags)
    assert code == 2
    assert "r.xlsx, line 1, article_id: found no such column among DocID, full text, the output" in errors
    proposed = (
        "--map 'system==gpt 4' --map article_id=DocID --map 'summary=the output' --map 'article=full text'"
    )
    assert errors.endswith(f" Check whether these columns are meant: {proposed}")
    code, output, _ = run("examples", path, *shlex.split(proposed))
    assert (code, "summaries: 1 new" in output) == (0, True)
    code, output, _ = run("examples", path, *shlex.split(proposed))
    assert "The project has all of this already:" in output


def test_columns_that_fit_nothing_lead_to_no_mapping(run, tmp_path):
    _, _, errors = run("examples", lines(tmp_path / "r.csv", "a,b", "1,2"))
    assert errors.endswith(
        "The file cannot be read. Nothing was loaded of r.csv (Articles and summaries (XLSX, CSV, TSV, "
        "JSONL, JSON))."
    )


def test_the_note_on_sheets_is_printed(run, tmp_path):
    path = tmp_path / "r.xlsx"
    book = Workbook()
    for name in ("One", "Two"):
        sheet = book.create_sheet(name)
        sheet.append(["article_id", "system", "summary"])
        sheet.append(["a", name, "A ship."])
    book.save(path)
    assert "'One' was read" in run("examples", path)[1]
    assert "was read" not in run("examples", path, "--sheet", "Two")[1]


def test_skip_bad_imports_the_valid_rows_with_exit_code_1(run, tmp_path):
    path = lines(tmp_path / "r.tsv", SEAHORSE_HEADER, "broken", seahorse_row())
    code, _, errors = run("seahorse", path, "--skip-bad")
    assert code == 1
    assert f"Invalid rows (1) were left out and written to {path}.rejected.jsonl." in errors
    assert json.loads((tmp_path / "r.tsv.rejected.jsonl").read_text())["row"] == "broken"
    assert Rating.objects.count() == 1


@pytest.mark.parametrize("flags", [["--skip-bad"], ["--skip-bad", "--dry-run"], []])
def test_a_file_without_a_valid_row_is_refused(run, tmp_path, flags):
    path = lines(tmp_path / "r.tsv", SEAHORSE_HEADER, "broken", "also\tbroken")
    code, output, errors = run("seahorse", path, *flags)
    assert code == 2
    assert "No row can be imported, because every row is invalid." in errors
    assert "Nothing was loaded of r.tsv" in errors
    assert "would give" not in output
    assert not list(tmp_path.glob("*.rejected.jsonl"))
    assert not Rating.objects.exists()


def test_a_table_for_a_jsonl_format_is_refused_with_the_format_that_fits(run, tmp_path):
    path = lines(tmp_path / "r.tsv", SEAHORSE_HEADER, seahorse_row(), seahorse_row())
    code, _, errors = run("summeval", path)
    assert code == 2
    assert "r.tsv, line 1, file: found what seems to be a TSV file, expected one JSON object a line" in errors
    assert (
        "Choose a format that fits its columns: SEAHORSE (TSV, CSV, XLSX). Nothing was loaded of r.tsv"
        in errors
    )
    assert "malformed" not in errors


def test_dry_run_imports_nothing(run, tmp_path):
    path = lines(tmp_path / "r.tsv", SEAHORSE_HEADER, seahorse_row())
    code, output, _ = run("seahorse", path, "--dry-run")
    assert code == 0
    assert "The file would give:" in output
    assert "This was a dry run: nothing was loaded." in output
    assert not Rating.objects.exists()


def test_dry_run_shows_the_proposed_questionnaire(run, tmp_path):
    path = lines(tmp_path / "r.csv", "doc,system,rater,is_it,summary", "a,x,r,yes,S.", "b,x,r,no,S.")
    flags = ["--map", "article_id=doc", "--map", "value=is_it", "--map", "question==factual"]
    code, output, errors = run("ratings", path, "--dry-run", *flags)
    assert code == 2
    assert "factual: nominal, one of yes, no" in output
    assert "--create-questionnaire" in errors
    assert run("ratings", path, "--create-questionnaire", *flags)[0] == 0
    assert Rating.objects.count() == 2


def test_scores_are_imported(run, project, tmp_path):
    make_summary(project, article=make_article(project, external_id="a"), system=make_system(project, "x"))
    path = jsonl(tmp_path / "s.jsonl", {"id": "1", "scores": {"fluency": 1}})
    examples = jsonl(tmp_path / "e.jsonl", {"id": "1", "article_id": "a", "system": "x", "summary": "S."})
    assert run("scores", path, "--examples", str(examples), "--evaluator", "ICE")[0] == 0
    assert Score.objects.get().setup.label == "ICE"


@pytest.mark.parametrize(("slug", "message"), [("brids", "did you mean birds?"), ("zzz", "there are birds")])
def test_unknown_project_is_refused_with_similar_names(run, tmp_path, slug, message):
    code, _, errors = run("seahorse", lines(tmp_path / "r.tsv", SEAHORSE_HEADER), slug=slug)
    assert code == 2
    assert message in errors
    assert "create_project" in errors


@pytest.mark.parametrize(
    ("format_name", "flags", "message"),
    [
        ("seehorse", [], "did you mean seahorse?"),
        (
            "seahorse",
            ["--labels", "x"],
            "option 'labels': the format seahorse has no such option; it has quoting",
        ),
        ("gold", ["--articles", "x.jsonl"], "option 'articles': the format gold has no such file"),
        ("seahorse", ["--articles", "nothing.jsonl"], "no such file"),
        ("seahorse", ["--quoting", "perhaps"], "invalid choice"),
        ("ratings", ["--map", "valeu=x"], "did you mean value?"),
        ("bartscore", ["--labels", "human"], "expected {dimension} in it once"),
    ],
)
def test_bad_arguments_are_reported(run, tmp_path, format_name, flags, message):
    code, _, errors = run(format_name, lines(tmp_path / "r.tsv", SEAHORSE_HEADER, seahorse_row()), *flags)
    assert code in (1, 2)
    assert message in errors


def test_missing_file_is_reported(run, tmp_path):
    code, _, errors = run("seahorse", tmp_path / "nothing.tsv")
    assert code == 2
    assert "nothing.tsv, line 0, file: found no such file" in errors


def test_unwritable_folder_is_reported_before_importing(run, tmp_path):
    path = lines(tmp_path / "r.tsv", SEAHORSE_HEADER, "broken", seahorse_row())
    (tmp_path / ".r.tsv.rejected.jsonl.unfinished").mkdir()
    code, _, errors = run("seahorse", path, "--skip-bad")
    assert code == 2
    assert "unfinished" in errors
    assert not Rating.objects.exists()


def test_file_imported_before_is_reported(run, tmp_path):
    path = lines(tmp_path / "r.tsv", SEAHORSE_HEADER, seahorse_row())
    run("seahorse", path)
    code, output, _ = run("seahorse", path)
    assert code == 0
    assert "The project has all of this already:" in output


@pytest.mark.parametrize("format_name", IMPORTERS)
def test_an_empty_file_is_refused_by_every_format(run, tmp_path, format_name):
    code, _, errors = run(format_name, lines(tmp_path / "empty"))
    assert code == 2
    assert "empty, line 1, file" in errors


@pytest.mark.parametrize("format_name", IMPORTERS)
def test_a_binary_file_is_refused_by_every_format(run, tmp_path, format_name):
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    code, _, errors = run(format_name, path)
    assert code == 2
    assert "line 1" in errors


@pytest.mark.parametrize("format_name", IMPORTERS)
def test_the_malformed_file_is_refused_by_every_format(run, shared, format_name):
    code, _, errors = run(format_name, shared / "data/goyal2022/test-500.newsroom.malformed.json.gz")
    assert code == 2
    assert "line 4997" in errors or format_name == "seahorse"
    assert "Nothing was loaded" in errors


def test_command_creates_a_project_with_its_manager(capsys):
    user = make_user("mara")
    call_command("create_project", "Wading birds", "--questionnaire", "summeval", "--manager", "mara")
    project = Project.objects.get(slug="wading-birds")
    assert project.questionnaire.key == "summeval"
    assert Membership.objects.get().user == user
    assert "address wading-birds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--slug", "birds"], "The address 'birds' is taken"),
        (["--manager", "nobody"], "there is no account 'nobody'"),
        (["--questionnaire", "seehorse"], "expected one of frank-errors, seahorse, summeval"),
    ],
)
@pytest.mark.usefixtures("project")
def test_invalid_project_is_refused(flags, message):
    with pytest.raises(CommandError, match=message) as refusal:
        call_command("create_project", "Birds", "--questionnaire", "seahorse", *flags)
    assert refusal.value.returncode == 2
    assert Project.objects.count() == 1
