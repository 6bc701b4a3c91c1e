"""Nine walks through the code: the files of the product that a piece of work enters, counted.

Whoever follows a walk reads these files. A count may only fall: lower its limit when it does.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.imports.jobs import queue_import
from annotation.models import ImportJob
from annotation.rating.assigning import take_assignment
from scoring.models import Run
from scoring.runs.imported_scores import work_on_import
from scoring.runs.worker import work_on_run
from tests.annotation.rating.rating_steps import FIRST, HTMX, THIRD, address, at_stage, sheet, signed_in
from tests.factories import make_member, make_project, make_rater, make_summary, make_user
from tests.import_files import SEAHORSE_HEADER, seahorse_row
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score
from tests.scoring.asking_projects import MODEL, asking_project, asking_run
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parent.parent
PRODUCT = tuple(f"{ROOT / folder}/" for folder in ("annotation", "scoring", "metaeval", "touchstone"))


@contextmanager
def walked(most: int) -> Iterator[None]:
    """Fail if the block enters functions of more than `most` files of the product."""
    entered: set[str] = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PRODUCT) and file not in entered and not _is_import(frame):
            entered.add(file)

    sys.setprofile(enter)
    try:
        yield
    finally:
        sys.setprofile(None)
    files = sorted(str(Path(name).relative_to(ROOT)) for name in entered)
    assert len(files) <= most, "\n".join(files)


def _is_import(frame: FrameType | None) -> bool:
    """Return whether a module is being imported, which runs decorators and bodies of classes."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(PRODUCT):
            return True
        frame = frame.f_back
    return False


@pytest.fixture
def assignment():
    rater = make_rater(make_project())
    make_summary(rater.project)
    make_summary(rater.project)
    return take_assignment(rater)


@pytest.fixture
def rated():
    """Return eight summaries, each rated twice and scored by two evaluators, and a researcher's browser."""
    project = make_project()
    raters = make_rater(project), make_rater(project)
    summaries = make_summaries(project, ["a", "b", "c", "d"], ["x", "y"])
    answers = ["yes", "no"]
    rate_all(
        (summary, rater, {"comprehensibility": answers[(place * (shift + 1)) % 2]})
        for place, summary in enumerate(summaries)
        for shift, rater in enumerate(raters)
    )
    for label in ("One", "Another"):
        score(make_setup(project, label), {each: len(label) * n for n, each in enumerate(summaries)})
    return project, signed_in(make_member(project, "researcher"))


@pytest.fixture
def endpoint(monkeypatch, settings, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "any-key")
    settings.VAR_DIR = tmp_path
    with ScriptedEndpoint() as server:
        yield server


def test_the_first_stage_of_a_rating(assignment):
    browser = signed_in(assignment.rater.user)
    with walked(28):
        response = browser.post(address(assignment), sheet(1, FIRST), headers=HTMX)
    assert response.status_code == 200


def test_the_last_stage_of_a_rating_and_the_next_summary(assignment):
    at_stage(assignment, 3)
    browser = signed_in(assignment.rater.user)
    with walked(31):
        response = browser.post(address(assignment), sheet(3, THIRD), headers=HTMX)
    assert response.status_code == 200


@pytest.mark.parametrize(("page", "most"), [("agreement", 71), ("comparison", 97)])
def test_a_page_with_results(rated, page, most):
    project, browser = rated
    with walked(most):
        response = browser.get(reverse(page, args=[project.slug]))
    assert response.status_code == 200


def test_the_start_of_a_run():
    project = make_project()
    make_summary(project)
    browser = signed_in(make_member(project, "researcher"))
    with walked(43):
        response = browser.post(
            reverse("run_new", args=[project.slug]), {"evaluator": "length", "action": "start"}
        )
    assert response.status_code == 302


def test_the_worker_of_a_run():
    project = make_project()
    make_summary(project)
    browser = signed_in(make_member(project, "researcher"))
    browser.post(reverse("run_new", args=[project.slug]), {"evaluator": "length", "action": "start"})
    run = Run.objects.get()
    with walked(22):
        work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE


def test_the_worker_of_an_import(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    file = SimpleUploadedFile("ratings.tsv", "\n".join((SEAHORSE_HEADER, seahorse_row())).encode())
    job = queue_import(make_project(), make_user(), "seahorse", file)
    with walked(35):
        work_on_import(job.pk)
    job.refresh_from_db()
    assert job.status == ImportJob.Status.DONE


def test_the_start_of_a_run_of_ice(endpoint):
    project = asking_project(2)
    form = {
        "evaluator": "ice",
        "param_model": MODEL,
        "param_base_url": endpoint.base_url,
        "param_dimensions": "attribution",
        "param_examples": "1",
        "param_pool_articles": "1",
        "action": "start",
    }
    browser = signed_in(make_member(project, "researcher"))
    with walked(60):
        response = browser.post(reverse("run_new", args=[project.slug]), form)
    assert response.status_code == 302


def test_the_worker_of_a_run_of_ice(endpoint):
    run = asking_run(asking_project(2), endpoint)
    with walked(46):
        work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE
