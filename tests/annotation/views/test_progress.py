"""The progress page through its address: figures, polling, who sees what."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.actions.assigning import take_assignment
from annotation.actions.people import qualify_rater, remove_rater
from annotation.actions.rating import GivenAnswer, flag_article, submit_stage
from annotation.models import Project, Rater, Rating
from tests.factories import (
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
)

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def project():
    return make_project()


def client_of(project, role="manager"):
    client = Client()
    client.force_login(make_member(project, role))
    return client


def get(client, project, **options):
    return client.get(reverse("progress", args=[project.slug]), **options)


def text_of(client, project):
    response = get(client, project)
    assert response.status_code == 200
    return response.content.decode()


def rate(project, summary, rater, ago=timedelta()):
    now = timezone.now() - ago
    return Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)


@pytest.mark.parametrize(("role", "names"), [("manager", True), ("researcher", False)])
def test_only_managers_see_raters_names(project, role, names):
    rater = make_rater(project)
    text = text_of(client_of(project, role), project)
    assert rater.pseudonym in text
    assert (rater.user.username in text) is names


def test_an_empty_project_is_walked_through_its_first_steps(project):
    text = text_of(client_of(project), project)
    for name in ("imports", "people", "runs"):
        assert reverse(name, args=[project.slug]) in text
    assert "What to do next" in text
    assert "<svg viewBox" not in text.split("</header>")[1]


def test_a_project_with_articles_gold_and_raters_needs_no_first_steps(project):
    make_summary(project)
    make_gold(project)
    make_rater(project)
    assert "What to do next" not in text_of(client_of(project), project)


def test_nothing_has_changed_costs_no_page(project):
    make_rater(project)
    client = client_of(project)
    version = get(client, project).context["version"]
    unchanged = client.get(reverse("progress", args=[project.slug]), {"version": version}, headers=HTMX)
    assert (unchanged.status_code, unchanged.content) == (204, b"")


@pytest.mark.parametrize("change", ["rating", "lease", "flag", "qualified", "removed"])
def test_every_change_reaches_an_open_page(project, change):
    make_summary(project)
    rater = make_rater(project, status="training" if change == "qualified" else "qualified")
    client = client_of(project)
    assignment = take_assignment(rater) if change in ("rating", "flag") else None
    if change == "flag":
        submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("yes")})
        submit_stage(
            rater, assignment.pk, 2, {"repetition": GivenAnswer("yes"), "grammar": GivenAnswer("yes")}
        )
    version = get(client, project).context["version"]
    if change == "rating":
        submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    elif change == "lease":
        take_assignment(rater)
    elif change == "flag":
        flag_article(rater, assignment.pk, "It ends in the middle.")
    elif change == "qualified":
        qualify_rater(rater)
    else:
        remove_rater(rater)
    changed = client.get(reverse("progress", args=[project.slug]), {"version": version}, headers=HTMX)
    assert changed.status_code == 200
    assert b"<html" not in changed.content
    assert b'id="live"' in changed.content


def test_the_pages_poll_finds_every_part_that_it_swaps(project):
    make_summary(project)
    make_rater(project)
    text = text_of(client_of(project), project)
    parts = text.split('hx-select-oob="')[1].split('"')[0].split(",")
    assert len(parts) == 9
    for part in parts:
        assert text.count(f'id="{part.removeprefix("#")}"') == 1


def test_figures_count_what_counts(project):
    german = make_article(project, language="de")
    other = make_system(project, "system-b")
    rated = make_summary(project, ratings_wanted=3, open_places=1)
    make_summary(project, article=german)
    make_summary(project, article=german, system=other, ratings_wanted=0)
    make_gold(project)
    kept, removed = make_rater(project), make_rater(project, status=Rater.Status.REMOVED)
    rate(project, rated, kept)
    rate(project, rated, removed)
    take_assignment(make_rater(project, languages=["de"]))
    found = get(client_of(project), project).context["progress"]
    figures = {
        group.name: (group.summaries, group.rated, group.ratings, group.given, group.missing)
        for group in found.languages
    }
    assert figures == {"en": (1, 1, 1, 2, 1), "de": (1, 0, 0, 0, 1)}
    assert [group.name for group in found.systems] == ["system-a"]
    assert (found.all.wanted, found.all.missing, found.leases, found.gold) == (4, 2, 1, [("en", 1)])


def test_days_count_ratings_by_the_day_they_were_finished_and_where_they_came_from(project):
    here, imported = make_rater(project), make_rater(project, user=None)
    for ago, rater in ((0, here), (0, imported), (1, imported), (13, here), (14, here)):
        rate(project, make_summary(project), rater, timedelta(days=ago))
    rate(project, make_summary(project), make_rater(project, status=Rater.Status.REMOVED))
    days = get(client_of(project), project).context["progress"].days
    assert [(day.here, day.imported) for day in days] == [(1, 0), *[(0, 0)] * 11, (0, 1), (1, 1)]


def test_a_raters_pace_is_the_median_time_in_open_stages(project):
    rater = make_rater(project)
    for seconds in (10, 20, 3600):
        rating = rate(project, make_summary(project), rater)
        rating.assignment = rater.assignments.create(
            summary=rating.summary, state="done", stage_opened_at=timezone.now(), leased_until=timezone.now()
        )
        start = timezone.now() - timedelta(hours=2)
        rating.stage_times = [
            {
                "stage": stage,
                "opened_at": start.isoformat(),
                "submitted_at": (start + timedelta(seconds=seconds / 2)).isoformat(),
            }
            for stage in (1, 2)
        ]
        rating.save()
    rows = get(client_of(project), project).context["progress"].raters
    assert [(row.ratings, row.today, row.seconds) for row in rows] == [(3, 3, 20)]


def test_names_of_articles_systems_raters_and_flags_are_escaped(project):
    article = make_article(project, title=SCRIPT)
    summary = make_summary(project, article=article, system=make_system(project, f"b{SCRIPT}"))
    rater = make_rater(project, pseudonym=f"r{SCRIPT}", group=SCRIPT)
    assignment = rater.assignments.create(
        summary=summary, state="done", stage=3, stage_opened_at=timezone.now(), leased_until=timezone.now()
    )
    flag_article(rater, assignment.pk, f"f{SCRIPT}")
    text = text_of(client_of(project), project)
    assert SCRIPT not in text
    assert text.count("&lt;script&gt;") >= 5


def test_twenty_rows_cost_as_many_queries_as_ten(project, django_assert_max_num_queries):
    client = client_of(project)

    def grow():
        for number in range(10):
            system = make_system(project, f"system-{Project.objects.get().systems.count()}")
            summary = make_summary(project, system=system, language=["en", "de"][number % 2])
            make_gold(project, language=["en", "de"][number % 2])
            rate(project, summary, make_rater(project))

    grow()
    with django_assert_max_num_queries(100) as ten:
        get(client, project)
    grow()
    with django_assert_max_num_queries(len(ten)):
        get(client, project)
