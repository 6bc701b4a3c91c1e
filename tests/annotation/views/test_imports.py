"""Importing through the page: what is uploaded, how far it is, what comes of it, and what is refused."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.import_outcome import pace
from annotation.importers import IMPORTERS
from annotation.models import ImportJob, Project, Summary
from scoring.imported import work_on_import
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
def _uploads_in_a_folder_of_their_own(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def client(project):
    client = Client()
    client.force_login(make_member(project, "manager"))
    return client


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
    return response.content.decode()


def test_every_format_is_offered_with_its_form(project, client):
    start = client.get(reverse("imports", args=[project.slug])).content.decode()
    for name in IMPORTERS:
        assert f"?format={name}#upload" in start
        form = client.get(reverse("imports", args=[project.slug]), {"format": name})
        assert form.status_code == 200
        assert f'name="format" value="{name}"' in form.content.decode()


def test_a_file_is_loaded_and_the_page_says_what_came(project, client):
    job = imported(client, project, upload(ROW))
    text = text_of(client, job)
    assert job.status == "done"
    assert Summary.objects.get().text == "It rose."
    assert '<th scope="row">Summaries</th><td class="number">1</td>' in text
    assert "every 1s" not in text


def test_a_clean_dry_run_loads_nothing_until_it_is_loaded_for_real(project, client):
    job = imported(client, project, upload(ROW), dry_run="on")
    assert not Summary.objects.exists()
    assert "Now load it for real" in text_of(client, job)
    response = client.post(address("import_load", job))
    loading = ImportJob.objects.latest("pk")
    assert response.url == address("import_job", loading)
    work_on_import(loading.pk)
    assert Summary.objects.count() == 1
    assert "Now load it for real" not in text_of(client, loading)


def test_wrong_rows_are_listed_and_the_file_is_refused_whole(project, client):
    job = imported(client, project, upload(ROW, ROW | {"id": "a2/sys", "article_id": "a2", "language": "4"}))
    text = text_of(client, job)
    assert job.status == "failed"
    assert "1 row is wrong" in text
    assert "a language code such as de or pt-BR" in text
    assert not Summary.objects.exists()


def test_a_dry_run_with_wrong_rows_can_be_loaded_without_them(project, client):
    wrong = ROW | {"id": "a2/sys", "article_id": "a2", "language": "4"}
    job = imported(client, project, upload(ROW, wrong), dry_run="on")
    assert "Leave out 1 wrong row<" in text_of(client, job)
    client.post(address("import_load", job), {"skip_bad": "on"})
    loading = ImportJob.objects.latest("pk")
    work_on_import(loading.pk)
    assert Summary.objects.count() == 1
    left_out = client.get(address("import_rejects", loading))
    assert left_out["Content-Disposition"].startswith("attachment")
    assert b'"a2/sys"' in b"".join(left_out.streaming_content)


def test_a_proposed_questionnaire_is_shown_and_taken_once_it_is_confirmed(project, client):
    job = imported(client, project, upload(ROW | {"labels": {"beauty": 0.5}}), dry_run="on")
    text = text_of(client, job)
    assert "Proposed questionnaire" in text
    assert 'name="create_questionnaire" required' in text
    client.post(address("import_load", job), {"create_questionnaire": "on"})
    work_on_import(ImportJob.objects.latest("pk").pk)
    assert [q.key for q in Project.objects.get().questionnaire.protocol.questions] == ["beauty"]


def test_a_project_that_is_in_use_is_not_offered_another_questionnaire(project, client):
    imported(client, project, upload(ROW))
    make_rater(project).assignments.create(
        summary=Summary.objects.get(), stage_opened_at=timezone.now(), leased_until=timezone.now()
    )
    job = imported(client, project, upload(ROW | {"labels": {"beauty": 0.5}}), dry_run="on")
    text = text_of(client, job)
    assert "Import into another project" in text
    assert "Now load it for real" not in text


def test_a_running_job_polls_and_stops_when_it_has_ended(project, client):
    send(client, project, upload(ROW))
    job = ImportJob.objects.get()
    waiting = client.get(address("import_job", job), headers=HTMX).content.decode()
    assert "Waiting for a worker" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    assert "<html" not in waiting
    work_on_import(job.pk)
    ended = client.get(address("import_job", job), headers=HTMX).content.decode()
    assert "hx-trigger" not in ended


def test_a_running_job_says_how_far_and_how_fast(project, client):
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
def test_there_is_no_pace_before_there_is_anything_to_measure(project, changes):
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
def test_what_cannot_be_imported_is_refused_before_it_is_queued(project, client, form, complaint):
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
    assert "The file is over 1 MiB" in response.content.decode()
    assert not ImportJob.objects.exists()
    assert not any(tmp_path.rglob("*.*"))


def test_a_file_at_the_limit_is_taken(project, client, settings):
    file = upload(ROW)
    settings.UPLOAD_MAX_BYTES = file.size
    assert send(client, project, file).status_code == 302


def test_the_errors_come_as_a_file_without_formulas(project, client):
    job = ImportJob.objects.create(
        project=project,
        format="examples",
        file_name="x.jsonl",
        status="failed",
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


def test_a_long_list_of_errors_is_shown_in_pages(project, client):
    error = {"file": "x", "line": 1, "field": "f", "found": "a", "expected": "b"}
    job = ImportJob.objects.create(
        project=project,
        format="examples",
        file="imports/x",
        file_name="x",
        status="failed",
        errors=[error] * 101,
    )
    text = text_of(client, job)
    assert "101 problems" in text
    assert text.count('<td class="expected">b</td>') == 100
    assert "?page=2" in text


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
    assert other.post(address("import_load", job)).status_code == expected
    for name in ("import_job", "import_errors", "import_rejects"):
        assert other.get(address(name, job)).status_code == expected
    assert ImportJob.objects.count() == 1


def test_imports_of_another_project_do_not_exist_here(project, client):
    foreign = ImportJob.objects.create(project=make_project(), format="gold", file_name="secret.csv")
    for name in ("import_job", "import_errors", "import_rejects"):
        assert client.get(reverse(name, args=[project.slug, foreign.pk])).status_code == 404


def test_what_a_file_says_is_escaped(project, client):
    row = ROW | {"language": SCRIPT, "system": SCRIPT}
    job = imported(client, project, upload(row, name="<img src=x>.jsonl"), dry_run="on")
    for text in (
        text_of(client, job),
        client.get(reverse("imports", args=[project.slug])).content.decode(),
    ):
        assert "<script>alert" not in text
        assert "<img" not in text
    assert "&lt;script&gt;" in text_of(client, job)


def test_twenty_jobs_cost_as_many_queries_as_ten(project, client, django_assert_max_num_queries):
    def grow():
        for _ in range(10):
            ImportJob.objects.create(project=project, format="gold", file_name="g", created_by=make_user())

    grow()
    with django_assert_max_num_queries(60) as ten:
        client.get(reverse("imports", args=[project.slug]))
    grow()
    with django_assert_max_num_queries(len(ten)):
        client.get(reverse("imports", args=[project.slug]))
