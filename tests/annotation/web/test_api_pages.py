"""Long lists of the API, paged by the key of their rows."""

import pytest
from django.utils import timezone

from annotation.models import AuditEntry, Rating
from scoring.models import Run, Score, Setup
from tests.factories import make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

STATEMENTS_OF_LABELS = 13


@pytest.fixture
def manager(client, project):
    client.force_login(make_member(project, "manager"))
    return client


def add_scores(project, setups=2, dimensions=("focus", "style"), summaries=3) -> None:
    """Store scores in another order than that of the list."""
    texts = [make_summary(project) for _ in range(summaries)]
    made = [
        Setup.objects.create(project=project, evaluator="length", label=str(-number), fingerprint=str(number))
        for number in range(setups)
    ]
    for summary in reversed(texts):
        for setup in made:
            run = Run.objects.create(setup=setup, status=Run.Status.DONE)
            Score.objects.bulk_create(
                Score(setup=setup, run=run, summary=summary, dimension=dimension, value=0.5)
                for dimension in dimensions
            )


def rows_of(body):
    return [(row["setup"], row["dimension"], row["summary"]) for row in body["results"]]


def objects_of(body):
    return [row["object"] for row in body["results"]]


def follow(client, address, direction, rows=rows_of):
    """Return the rows of each page from `address` on."""
    pages = []
    while address:
        body = client.get(address).json()
        pages.append(rows(body))
        address = body[direction]
    return pages


def test_following_next_shows_each_row_once_and_previous_leads_back(manager, project):
    add_scores(project)
    add_scores(make_project())
    address = f"/api/projects/{project.slug}/scores/"
    every = rows_of(manager.get(address).json())
    assert every == sorted(every)
    assert len(every) == 12
    for limit in (1, 5, 6, 12):
        pages = follow(manager, f"{address}?limit={limit}", "next")
        assert [row for page in pages for row in page] == every
        assert all(len(page) == limit for page in pages[:-1])
    last = f"{address}?limit=5&offset=10"
    assert follow(manager, last, "previous") == [every[10:], every[5:10], every[:5]]


@pytest.mark.parametrize("filters", ["dimension=style", "setup={setup}", "setup={setup}&dimension=style"])
def test_filtered_lists_are_paged_by_the_same_order(manager, project, filters):
    add_scores(project)
    setup = Setup.objects.filter(project=project).first().pk
    address = f"/api/projects/{project.slug}/scores/?{filters.format(setup=setup)}"
    every = rows_of(manager.get(address).json())
    assert every == sorted(every)
    pages = follow(manager, f"{address}&limit=2", "next")
    assert [row for page in pages for row in page] == every


def test_a_descending_list_goes_on_with_older_rows_although_newer_ones_arrive(manager, project):
    for number in range(5):
        AuditEntry.objects.create(project=project, action="rater_removed", object=str(number))
    address = f"/api/projects/{project.slug}/audit-log/?action=rater_removed&limit=2"
    first = manager.get(address).json()
    AuditEntry.objects.create(project=project, action="rater_removed", object="new")
    following = follow(
        manager, first["next"], "next", lambda body: [row["object"] for row in body["results"]]
    )
    assert [row["object"] for row in first["results"]] == ["4", "3"]
    assert following == [["2", "1"], ["0"]]
    before = manager.get(manager.get(first["next"]).json()["previous"]).json()
    assert [row["object"] for row in before["results"]] == ["4", "3"]
    assert [row["object"] for row in manager.get(before["previous"]).json()["results"]] == ["new"]


def test_rows_are_counted_again_when_the_revision_has_changed(manager, project):
    add_scores(project, setups=1, dimensions=("focus",))
    first = manager.get(f"/api/projects/{project.slug}/scores/?limit=1").json()
    Score.objects.filter(summary=first["results"][0]["summary"]).delete()
    assert manager.get(first["next"]).json()["count"] == 3  # the change is not complete
    project.bump_revision()
    assert manager.get(first["next"]).json()["count"] == 2


def test_a_cursor_fits_only_its_list_and_filters(manager, project):
    add_scores(project)
    following = manager.get(f"/api/projects/{project.slug}/scores/?dimension=focus&limit=1").json()["next"]
    other = make_project()
    for wrong in (
        following.replace("focus", "style"),
        following.replace("/scores/", "/labels/").replace("dimension=focus&", ""),
        following.replace("cursor=", "cursor=x"),
    ):
        answer = manager.get(wrong)
        assert (answer.status_code, answer.json()["detail"][:8]) == (400, "cursor: ")
    assert manager.get(following.replace(project.slug, other.slug)).status_code == 404
    assert len(manager.get(following.replace("limit=1", "limit=2")).json()["results"]) == 2


def test_pages_after_a_cursor_do_not_count_the_rows_again(manager, project, django_assert_num_queries):
    rater, now = make_rater(project), timezone.now()
    for _ in range(4):
        summary = make_summary(project)
        rating = Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)
        question = project.questionnaire.questions.first()
        rating.answers.create(question=question, value="yes", created_at=now)
    address = f"/api/projects/{project.slug}/labels/?limit=1"
    with django_assert_num_queries(STATEMENTS_OF_LABELS):
        first = manager.get(address).json()
    with django_assert_num_queries(STATEMENTS_OF_LABELS - 1):
        assert len(manager.get(first["next"]).json()["results"]) == 1
