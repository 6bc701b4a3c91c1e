"""Choosing the columns of a table: what each holds, the first rows, and the dry run that follows."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.errors import InvalidImport
from annotation.imports.columns import fields_by_column, mapping_of
from annotation.imports.reading.importer import importer_class
from annotation.models import ImportJob, Summary
from scoring.runs.imported_scores import work_on_import
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_article, make_member, make_project, make_summary, make_system

pytestmark = pytest.mark.django_db

EXAMPLES = importer_class("examples")
STORY = "The river rose in the night and the bridge was closed until the water fell again. " * 6
WIDE = f"""doc_id,part,document,gpt,bart
d1,1,{STORY},"The river rose, so the bridge was closed.",A bridge was closed because of water.
d1,2,{STORY} It rained.,"The river rose again, so it was closed.",A bridge was closed because of rain.
"""


@pytest.fixture(autouse=True)
def _separate_upload_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def client(project):
    return signed_in(make_member(project, "manager"))


def checked(client, project, text, **form):
    file = SimpleUploadedFile("texts.csv", text.encode())
    form = {"format": "examples", "language": "en", "rater": "imported", "dry_run": "on", "file": file} | form
    assert client.post(reverse("imports", args=[project.slug]), form).status_code == 302
    return worked_on()


def worked_on():
    work_on_import(ImportJob.objects.latest("pk").pk)
    return ImportJob.objects.latest("pk")


def address(job, name="import_columns"):
    return reverse(name, args=[job.project.slug, job.pk])


def choose(client, job, *fields, **form):
    return client.post(address(job), {f"column-{place}": name for place, name in enumerate(fields)} | form)


def test_a_table_with_other_columns_is_imported_after_choosing_them(client, project):
    job = checked(client, project, WIDE)
    assert "Choose columns" in client.get(address(job, "import_job")).content.decode()
    page = client.get(address(job)).content.decode()
    assert page.count("selected") == 4  # proposed: id, article, and a summary of two systems
    assert "The river rose, so the bridge was closed." in page
    answer = choose(client, job, "article_id", "article_id", "article", "summary", "summary", check="1")
    assert answer.status_code == 302, answer.content.decode()
    job = worked_on()
    assert (job.status, job.dry_run, job.report["counts"]["summaries"]["new"]) == ("done", True, 4)
    client.post(address(job, "import_load"))
    assert worked_on().status == "done"
    stored = Summary.objects.values_list("article__external_id", "system__name")
    assert sorted(stored) == [("d1-1", "bart"), ("d1-1", "gpt"), ("d1-2", "bart"), ("d1-2", "gpt")]


def test_the_next_file_of_that_kind_gets_the_same_columns(client, project):
    first = checked(client, project, WIDE)
    choose(client, first, "article_id", "article_id", "article", "summary", "", check="1")
    worked_on()
    again = checked(client, project, WIDE)
    assert [column[2] for column in client.get(address(again)).context["columns"]] == [
        *("article_id", "article_id", "article", "summary"),
        "",
    ]


def test_the_preview_shows_the_first_rows_under_the_chosen_names(client, project):
    job = checked(client, project, WIDE)
    page = choose(client, job, "article_id", "article_id", "article", "", "summary", preview="1")
    assert page.status_code == 200
    assert page.context["names"][:2] == ["article", "summary:bart"]
    assert page.context["rows"][0][-1] == "d1-1"
    assert ImportJob.objects.count() == 1


def test_two_columns_of_one_field_are_refused_beside_the_second(client, project):
    job = checked(client, project, WIDE)
    page = choose(client, job, "article_id", "title", "title", "summary", "summary", check="1")
    assert page.status_code == 422
    assert "part is title, too." in page.content.decode()
    assert ImportJob.objects.count() == 1


def test_unknown_fields_are_not_imported(client, project):
    job = checked(client, project, WIDE)
    page = choose(client, job, "article_id", "<script>", "article", "summary", "summary", preview="1")
    assert "&lt;script&gt;" not in page.content.decode()
    assert page.status_code == 200


def test_files_without_a_table_have_no_columns_to_choose(client, project):
    job = checked(client, project, '{"article_id": "a", "system": "s", "summary": "t", "article": "x"}')
    assert client.get(address(job)).status_code == 404


METRICS = """doc_id,model,rouge1,hash
d1,gpt,0.5,ff
d2,gpt,nan,ab
"""


def test_columns_of_scores_are_chosen(client, project):
    for name in ("d1", "d2"):
        make_summary(
            project, article=make_article(project, external_id=name), system=make_system(project, "gpt")
        )
    job = checked(client, project, METRICS, format="scores")
    assert job.status == "failed"
    columns = client.get(address(job)).context["columns"]
    assert [column[2] for column in columns] == ["article_id", "system", "score", ""]
    assert choose(client, job, "article_id", "system", "score", "", check="1").status_code == 302
    job = worked_on()
    assert (job.status, job.report["counts"]["scores"]["new"]) == ("done", 2)
    assert job.report["notes"] == ["Scores of 1 evaluator: rouge1. Columns that are left out: hash."]


def test_columns_of_scores_are_evaluators_beside_a_column_of_systems():
    chosen = {"doc": "article_id", "model": "system", "r": "score", "coherence": "score", "note": ""}
    mapping = mapping_of(chosen, importer_class("scores"))
    assert mapping == ["article_id=doc", "system=model", "score:r=r", "score:coherence=coherence"]


@pytest.mark.parametrize(
    ("chosen", "mapping"),
    [
        (
            {"id": "article_id", "model": "system", "out": "summary"},
            ["article_id=id", "system=model", "summary=out"],
        ),
        ({"a": "article_id", "b": "article_id", "x": "summary"}, ["article_id=a+b", "summary:x=x"]),
        ({"article": "article", "title": "title", "note": ""}, []),
        ({"title": "article", "heading": "title"}, ["article=title", "title=heading"]),
    ],
)
def test_a_choice_is_a_mapping_and_back(chosen, mapping):
    assert mapping_of(chosen, EXAMPLES) == mapping
    held = {column: ours for column, ours in chosen.items() if ours}
    assert fields_by_column(mapping, list(chosen), EXAMPLES.mapped_fields) == held


@pytest.mark.parametrize(
    ("chosen", "constants", "column", "problem"),
    [
        ({"title": "", "id": "article_id"}, [], "title", "is imported as title"),
        ({"id": "article_id", "name": "system"}, ["system==gpt-4"], "name", "the same for all rows"),
        ({"a=b": "summary"}, [], "a=b", "Rename it"),
        ({"": "summary"}, [], "", "has no name"),
        ({"a+b": "article_id", "c": "article_id"}, [], "a+b", "Rename it"),
    ],
)
def test_a_choice_that_no_mapping_can_say_is_refused(chosen, constants, column, problem):
    with pytest.raises(InvalidImport) as refusal:
        mapping_of(chosen, EXAMPLES, constants)
    assert problem in refusal.value.fields[column]


def test_a_system_that_is_the_same_for_all_rows_makes_no_wide_table():
    assert mapping_of({"out": "summary"}, EXAMPLES, ["system==gpt-4"]) == ["system==gpt-4", "summary=out"]
