"""The Import pages: uploads, progress, results and refusals."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.imports.formats import IMPORTERS
from annotation.imports.views import pace
from annotation.models import ImportJob, Project, Summary
from scoring.runs.imported_scores import work_on_import
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_member, make_project, make_rater, make_user

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
SCRIPT = "<script>alert(1)</script>"
ROW = {
    "id": "a1/sys",
    "article_id": "a1",
    "system": "sys",
    "language": "en",
    "article": "The river rose.",
    "summary": "It rose.",
}


@pytest.fixture(autouse=True)
def _separate_upload_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def client(project):
    return signed_in(make_member(project, "manager"))


def upload(*rows, name="examples.jsonl"):
    lines = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    return SimpleUploadedFile(name, lines.encode())


def send(client, project, file, **form):
    form = {"format": "examples", "language": "en", "rater": "imported", "file": file} | form
    return client.post(reverse("imports", args=[project.slug]), form)


def imported(client, project, file, **form):
    response = send(client, project, file, **form)
    assert response.status_code == 302, response.content.decode()
    job = ImportJob.objects.latest("pk")
    assert response.url == address("import_job", job)
    work_on_import(job.pk)
    job.refresh_from_db()
    return job


def address(name, job):
    return reverse(name, args=[job.project.slug, job.pk])


def text_of(client, job):
    response = client.get(address("import_job", job))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_every_format_is_offered_with_its_form(project, client):
    start = client.get(reverse("imports", args=[project.slug])).content.decode()
    for name in IMPORTERS:
        assert f"?format={name}#upload" in start
        form = client.get(reverse("imports", args=[project.slug]), {"format": name})
        assert form.status_code == 200
        assert f'name="format" value="{name}"' in form.content.decode()


def test_past_imports_are_listed_with_their_state_and_numbers(project, client):
    assert "No imports yet." in client.get(reverse("imports", args=[project.slug])).content.decode()
    imported(client, project, upload(ROW, ROW | {"id": "a2/sys", "article_id": "a2"}, name="texts.jsonl"))
    imported(client, project, upload(ROW, "{broken", name="wrong.jsonl"), dry_run="on")
    ImportJob.objects.create(project=project, format="gold", file_name="new.csv")
    page = client.get(reverse("imports", args=[project.slug]))
    assert page.context["kinds"] == ["Articles", "Summaries"]
    assert [(job.file_name, job.rows_total, numbers) for job, numbers in page.context["jobs"]] == [
        ("new.csv", None, [None, None, None]),
        ("wrong.jsonl", 2, [1, 0, 0]),
        ("texts.jsonl", 2, [0, 2, 2]),
    ]
    text = " ".join(page.content.decode().split())
    for state in ("waiting", "would be rejected", "done"):
        assert f"> {state} </span>" in text


def test_the_page_of_an_import_counts_the_stored_rows(project, client):
    job = imported(client, project, upload(ROW))
    text = text_of(client, job)
    assert job.status == "done"
    assert Summary.objects.get().text == "It rose."
    assert '<th scope="row">Summaries</th> <td class="number">1</td>' in text
    assert "every 1s" not in text


def test_a_valid_dry_run_stores_nothing_until_it_is_imported_for_real(project, client):
    job = imported(client, project, upload(ROW), dry_run="on")
    assert not Summary.objects.exists()
    assert "Import for real" in text_of(client, job)
    response = client.post(address("import_load", job))
    loading = ImportJob.objects.latest("pk")
    assert response.url == address("import_job", loading)
    work_on_import(loading.pk)
    assert Summary.objects.count() == 1
    assert "Import for real" not in text_of(client, loading)


def test_invalid_rows_are_listed_and_nothing_is_imported(project, client):
    job = imported(client, project, upload(ROW, ROW | {"id": "a2/sys", "article_id": "a2", "language": "4"}))
    text = text_of(client, job)
    assert job.status == "failed"
    assert "1 row is invalid. Correct or skip it." in text
    assert "a language code such as de or pt-BR" in text
    assert not Summary.objects.exists()


def test_a_dry_run_with_invalid_rows_can_be_loaded_without_them(project, client):
    wrong = ROW | {"id": "a2/sys", "article_id": "a2", "language": "4"}
    job = imported(client, project, upload(ROW, wrong), dry_run="on")
    assert "Skip 1 invalid row <" in text_of(client, job)
    client.post(address("import_load", job), {"skip_bad": "on"})
    loading = ImportJob.objects.latest("pk")
    work_on_import(loading.pk)
    assert Summary.objects.count() == 1
    left_out = client.get(address("import_rejects", loading))
    assert left_out["Content-Disposition"].startswith("attachment")
    assert b'"a2/sys"' in b"".join(left_out.streaming_content)


@pytest.mark.parametrize("skipping", [{}, {"skip_bad": "on"}])
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_dry_run_without_a_valid_row_only_offers_another_file(project, client, skipping, headers):
    job = imported(client, project, upload(*["{broken"] * 136), dry_run="on", **skipping)
    text = " ".join(client.get(address("import_job", job), headers=headers).content.decode().split())
    assert "No row can be imported, because every row is invalid." in text
    assert "136 problems" in text
    assert "Import for real" not in text
    assert "skip_bad" not in text
    assert "will be skipped" not in text
    again = f"{reverse('imports', args=[project.slug])}?format=examples#upload"
    assert f'href="{again}">Choose another file</a>' in text
    assert b'name="format" value="examples"' in client.get(again).content


def test_loading_a_dry_run_without_a_valid_row_fails_and_stores_nothing(project, client):
    job = imported(client, project, upload("{broken"), dry_run="on")
    client.post(address("import_load", job), {"skip_bad": "on"})
    loading = ImportJob.objects.latest("pk")
    work_on_import(loading.pk)
    text = text_of(client, loading)
    assert "Nothing was imported" in text
    assert "No row can be imported" in text
    assert "Choose another file" in text
    assert client.get(address("import_rejects", loading)).status_code == 404
    assert not Summary.objects.exists()


def test_the_page_offers_what_counts_of_repeated_answers(project, client):
    page = client.get(reverse("imports", args=[project.slug]), {"format": "ratings"}).content.decode()
    assert '<option value="refuse" selected>Report as invalid</option>' in page
    rows = [f"a,x,r,comprehensibility,{value},S." for value in ("yes", "no")]
    file = upload("article_id,system,rater,question,value,summary", *rows, name="r.csv")
    options = {"format": "ratings", "missing": "NULL", "dry_run": "on"}
    assert imported(client, project, file, repeated="refuse", **options).report["rejected"] == 2
    file.seek(0)
    job = imported(client, project, file, repeated="last", **options)
    assert job.report["rejected"] == 0
    assert "1 row left out" in client.get(address("import_job", job)).content.decode()


def test_a_dry_run_that_stopped_is_not_loaded_with_its_proposed_questionnaire(project, client):
    """The project lacks the summaries of the ratings."""
    rows = [f"a,x,r{number},factual,{'yes' if number % 2 else 'no'}" for number in range(1100)]
    file = upload("article_id,system,rater,question,value", *rows, name="r.csv")
    job = imported(client, project, file, format="ratings", missing="NULL", dry_run="on")
    assert job.report["questionnaire"]
    text = text_of(client, job)
    assert "more than 1,000 problems, so reading stopped" in text
    assert "Import for real" not in text
    assert "It is not known how many rows are valid." in text
    assert "Choose another file" in text


def test_a_dry_run_that_stopped_at_too_many_problems_leads_to_an_import_without_them(project, client):
    rows = [
        row
        for number in range(1100)
        for row in (ROW | {"id": f"a{number}/sys", "article_id": f"a{number}"}, "broken")
    ]
    job = imported(client, project, upload(*rows), dry_run="on")
    text = text_of(client, job)
    assert "more than 1,000 problems, so reading stopped" in text
    assert "The first 1,000 problems" in text
    assert "Import for real" not in text
    assert "Repeat dry run without invalid rows" in text
    assert "Content of the rows read so far" in text
    client.post(address("import_load", job), {"check": "1"})
    checking = ImportJob.objects.latest("pk")
    work_on_import(checking.pk)
    assert not Summary.objects.exists()
    text = text_of(client, checking)
    assert "1,100 invalid rows will be skipped" in text
    assert "1,000 problems and 100 more" in text
    client.post(address("import_load", checking))
    work_on_import(ImportJob.objects.latest("pk").pk)
    assert Summary.objects.count() == 1100


def test_a_file_of_mostly_invalid_rows_is_not_offered_without_them(project, client):
    job = imported(client, project, upload(*["{broken"] * 1200, ROW), dry_run="on", skip_bad="on")
    text = text_of(client, job)
    assert "more than half of those read" in text
    assert "Repeat dry run" not in text
    assert "Import for real" not in text
    assert "Choose another file" in text


def test_a_proposed_questionnaire_is_shown_and_stored_once_confirmed(project, client):
    job = imported(client, project, upload(ROW | {"labels": {"beauty": 0.5}}), dry_run="on")
    text = text_of(client, job)
    assert "Proposed questionnaire" in text
    assert 'name="create_questionnaire" required' in text
    client.post(address("import_load", job), {"create_questionnaire": "on"})
    work_on_import(ImportJob.objects.latest("pk").pk)
    assert [q.key for q in Project.objects.get().questionnaire.protocol.questions] == ["beauty"]


def test_a_project_in_use_is_not_offered_another_questionnaire(project, client):
    imported(client, project, upload(ROW))
    make_rater(project).assignments.create(
        summary=Summary.objects.get(), stage_opened_at=timezone.now(), leased_until=timezone.now()
    )
    job = imported(client, project, upload(ROW | {"labels": {"beauty": 0.5}}), dry_run="on")
    text = text_of(client, job)
    assert "Import the file into another project" in text
    assert "Import for real" not in text


def test_the_page_of_a_job_polls_until_the_job_ends(project, client):
    send(client, project, upload(ROW))
    job = ImportJob.objects.get()
    waiting = client.get(address("import_job", job), headers=HTMX).content.decode()
    assert "Waiting for a worker" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    assert "<html" not in waiting
    work_on_import(job.pk)
    ended = client.get(address("import_job", job), headers=HTMX).content.decode()
    assert "hx-trigger" not in ended


def test_a_running_job_shows_its_progress_and_pace(project, client):
    send(client, project, upload(ROW))
    now = timezone.now()
    ImportJob.objects.update(
        status="running", rows_read=1000, rows_total=4000, started_at=now - timedelta(seconds=10)
    )
    job = ImportJob.objects.get()
    measured = pace(job, now)
    assert (measured.rows_a_second, measured.seconds_left) == (100, 30)
    text = text_of(client, job)
    assert "1,000 of 4,000 rows" in text
    assert "rows a second" in text


@pytest.mark.parametrize("changes", [{"started_at": None}, {"rows_read": 0}, {"rows_total": None}])
def test_pace_is_none_before_rows_are_read_and_counted(project, changes):
    now = timezone.now()
    fields = {"rows_read": 1, "rows_total": 2, "started_at": now - timedelta(seconds=1)}
    assert pace(ImportJob(project=project, **fields | changes), now) is None


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ({"format": "ratings", "map": "nonsense", "language": "en"}, "nonsense"),
        ({"format": "seahorse", "quoting": "maybe"}, "Select a valid choice"),
    ],
)
def test_an_invalid_import_is_refused_before_it_is_queued(project, client, form, complaint):
    response = send(client, project, upload(ROW), **form)
    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert not ImportJob.objects.exists()


def test_a_form_without_a_file_is_refused(project, client):
    response = send(client, project, "")
    assert response.status_code == 422
    assert "This field is required" in response.content.decode()


def test_an_unknown_format_is_refused(project, client):
    assert send(client, project, upload(ROW), format="excel").status_code == 422
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize("field", ["file", "second_file"])
def test_a_file_over_the_limit_is_refused_with_the_limit(project, client, settings, tmp_path, field):
    settings.UPLOAD_MAX_BYTES = 1024 * 1024
    large = SimpleUploadedFile("large.tsv", b"x" * (1024 * 1024 + 1))
    files = {"file": upload("gem_id"), "second_file": upload(ROW)} | {field: large}
    response = send(client, project, format="seahorse", quoting="auto", **files)
    assert response.status_code == 422
    assert "The file is larger than 1 MiB" in response.content.decode()
    assert not ImportJob.objects.exists()
    assert not any(tmp_path.rglob("*.*"))


def test_a_file_at_the_limit_is_accepted(project, client, settings):
    file = upload(ROW)
    settings.UPLOAD_MAX_BYTES = file.size
    assert send(client, project, file).status_code == 302


def test_errors_download_as_csv_without_formulas(project, client):
    job = ImportJob.objects.create(
        project=project,
        format="examples",
        file_name="x.jsonl",
        status="failed",
        finished_at=timezone.now(),
        errors=[
            {"file": "=x.jsonl", "line": 3, "field": "+a", "found": "@SUM(A1)", "expected": 'a "text"'},
        ],
    )
    response = client.get(address("import_errors", job))
    assert response["Content-Type"].startswith("text/csv")
    assert response["Content-Disposition"].startswith("attachment")
    rows = list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert rows == [
        ["file", "line", "field", "found", "expected"],
        ["'=x.jsonl", "3", "'+a", "'@SUM(A1)", 'a "text"'],
    ]


def failed(project, errors):
    return ImportJob.objects.create(
        project=project,
        format="examples",
        file="imports/x",
        file_name="x",
        status="failed",
        finished_at=timezone.now(),
        errors=errors,
    )


def test_problems_of_one_kind_are_one_line_that_opens_to_all_rows(project, client):
    errors = [
        {"file": "x", "line": line, "field": field, "found": f"found {line}", "expected": "a text"}
        for line, field in [(1, "title"), *((line, "text") for line in range(2, 10))]
    ]
    text = text_of(client, failed(project, errors))
    assert "9 problems" in text
    many, one = text.index("x, lines 2, 3, 4, 5, 6 and 3 more"), text.index("x, line 1 <")
    assert many < one
    assert "<b>text</b>: expected a text, found, for example, <code>found 2</code>" in text
    assert "<b>title</b>: expected a text, found <code>found 1</code>" in text
    assert [text.count(f"<code>found {line}</code>") for line in (1, 3, 9)] == [1, 1, 1]
    assert text.count("<details>") == 1


def test_many_kinds_of_problems_are_shown_in_pages(project, client):
    errors = [
        {"file": "x", "line": 1, "field": f"field {number}", "found": "a", "expected": "b"}
        for number in range(26)
    ]
    text = text_of(client, failed(project, errors))
    assert "26 problems" in text
    assert text.count("expected b") == 25
    assert "?page=2" in text


def test_a_waiting_import_can_be_cancelled_and_a_finished_one_cannot(project, client):
    send(client, project, upload(ROW))
    job = ImportJob.objects.get()
    assert "Cancel import" in text_of(client, job)
    assert client.post(address("import_cancel", job)).url == address("import_job", job)
    work_on_import(job.pk)
    text = text_of(client, job)
    assert "Cancelled. Nothing was stored" in text
    assert "Cancel import" not in text
    assert not Summary.objects.exists()
    assert client.post(address("import_cancel", job)).status_code == 409
    assert client.get(address("import_cancel", job)).status_code == 405


def test_only_finished_dry_runs_can_be_loaded(project, client):
    job = imported(client, project, upload(ROW))
    assert client.post(address("import_load", job)).status_code == 400
    assert client.get(address("import_load", job)).status_code == 405
    assert ImportJob.objects.count() == 1


@pytest.mark.parametrize("role", ["researcher", "annotator", "stranger"])
def test_only_managers_import(project, client, role):
    job = imported(client, project, upload(ROW), dry_run="on")
    user = {
        "researcher": lambda: make_member(project, "researcher"),
        "annotator": lambda: make_rater(project).user,
        "stranger": make_user,
    }[role]()
    other = Client()
    other.force_login(user)
    expected = 404 if role == "stranger" else 403
    assert send(other, project, upload(ROW)).status_code == expected
    for name in ("import_load", "import_cancel"):
        assert other.post(address(name, job)).status_code == expected
    for name in ("import_job", "import_errors", "import_rejects"):
        assert other.get(address(name, job)).status_code == expected
    assert ImportJob.objects.count() == 1


def test_imports_of_another_project_are_not_found(project, client):
    foreign = ImportJob.objects.create(project=make_project(), format="gold", file_name="secret.csv")
    for name in ("import_job", "import_errors", "import_rejects"):
        assert client.get(reverse(name, args=[project.slug, foreign.pk])).status_code == 404


def test_contents_of_a_file_are_escaped(project, client):
    row = ROW | {"language": SCRIPT, "system": SCRIPT}
    job = imported(client, project, upload(row, name="<img src=x>.jsonl"), dry_run="on")
    for text in (
        text_of(client, job),
        client.get(reverse("imports", args=[project.slug])).content.decode(),
    ):
        assert "<script>alert" not in text
        assert "<img" not in text
    assert "&lt;script&gt;" in text_of(client, job)


def test_twenty_jobs_need_no_more_queries_than_ten(project, client, django_assert_max_num_queries):
    def grow():
        for _ in range(10):
            ImportJob.objects.create(project=project, format="gold", file_name="g", created_by=make_user())

    grow()
    with django_assert_max_num_queries(60) as ten:
        client.get(reverse("imports", args=[project.slug]))
    grow()
    with django_assert_max_num_queries(len(ten)):
        client.get(reverse("imports", args=[project.slug]))
