"""The progress page: figures, polling and permissions."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.gold.qualified_languages import qualify_rater
from annotation.models import Project, Rater, Rating
from annotation.people.members import remove_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer, flag_article
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import (
    make_article,
    make_gold,
    make_member,
    make_rater,
    make_summary,
    make_system,
)

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
SCRIPT = "<script>alert(1)</script>"


def client_of(project, role="manager"):
    client = Client()
    client.force_login(make_member(project, role))
    return client


def get(client, project, **options):
    return client.get(reverse("progress", args=[project.slug]), **options)


def text_of(client, project):
    response = get(client, project)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def rate(project, summary, rater, ago=timedelta()):
    now = timezone.now() - ago
    return Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)


def collect(project, summary, rater, ago=timedelta()):
    """Create a rating made on the rating page rather than imported."""
    rating = rate(project, summary, rater, ago)
    rating.assignment = rater.assignments.create(
        summary=summary, state="done", stage_opened_at=timezone.now(), leased_until=timezone.now()
    )
    rating.save()
    return rating


@pytest.mark.parametrize(("role", "names"), [("manager", True), ("researcher", False)])
def test_only_managers_see_raters_names(project, role, names):
    rater = make_rater(project)
    text = text_of(client_of(project, role), project)
    assert rater.pseudonym in text
    assert (rater.user.username in text) is names


def test_an_empty_project_leads_managers_to_its_set_up(project):
    text = text_of(client_of(project), project)
    assert "Not started" in text
    assert reverse("set_up", args=[project.slug]) in text
    assert "Set up the campaign" not in text_of(client_of(project, "researcher"), project)
    assert "<svg viewBox" not in text.split("</header>")[1]


def test_a_project_is_not_started_until_raters_have_begun(project):
    summary = make_summary(project)
    make_summary(project)
    make_gold(project)
    rater = make_rater(project)
    assert "Not started" in text_of(client_of(project), project)
    collect(project, summary, rater)
    assert "Not started" not in text_of(client_of(project), project)


def test_a_project_whose_ratings_are_all_imported_is_started(project):
    rate(project, make_summary(project, open_places=0), make_rater(project, user=None))
    assert "Not started" not in text_of(client_of(project), project)


def test_articles_are_those_of_the_summaries_to_rate(project):
    article = make_article(project)
    make_summary(project, article=article, system=make_system(project, "a"))
    make_summary(project, article=article, system=make_system(project, "b"))
    make_article(project)
    make_gold(project)
    assert "2 summaries to be rated, of 1 article," in text_of(client_of(project), project)
    assert get(client_of(project), project).context["progress"].articles == 1


def test_a_poll_of_an_unchanged_page_gets_no_content(project):
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
        qualify_rater(rater, make_member(project, "manager"), "en")
    else:
        remove_rater(rater)
    changed = client.get(reverse("progress", args=[project.slug]), {"version": version}, headers=HTMX)
    assert changed.status_code == 200
    assert b"<html" not in changed.content
    assert b'id="live"' in changed.content


def test_the_page_has_every_part_that_a_poll_swaps(project):
    make_summary(project)
    make_rater(project)
    text = text_of(client_of(project), project)
    parts = text.split('hx-select-oob="')[1].split('"')[0].split(",")
    assert len(parts) == 12
    for part in parts:
        assert text.count(f'id="{part.removeprefix("#")}"') == 1


def test_figures_count_only_countable_ratings_and_wanted_summaries(project):
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


def test_the_figures_of_each_place_add_up(project):
    """Two articles lack their text: one summary was rated before it was imported, and one never can be."""
    news, none = (make_article(project, dataset=name) for name in ("news", ""))
    without = [make_article(project, dataset="news", text="") for _ in range(2)]
    of_file, here = make_rater(project, user=None), make_rater(project)
    rate(project, make_summary(project, article=without[0], ratings_wanted=2, open_places=1), of_file)
    make_summary(project, article=without[1])
    collect(project, make_summary(project, article=news, open_places=0), here)
    make_summary(project, article=none)
    assert take_assignment(make_rater(project)).summary.article == none
    page = get(client_of(project), project)
    found = page.context["progress"]
    groups = {group.name: group for group in found.datasets}
    figures = ("wanted", "given", "missing", "blocked", "collected", "imported")
    assert {name: [getattr(group, each) for each in figures] for name, group in groups.items()} == {
        "news": [4, 2, 0, 2, 1, 1],
        "": [1, 0, 1, 0, 0, 0],
    }
    assert groups["news"].percent == 100
    for parts in (found.languages, found.datasets, found.systems):
        for each in figures:
            assert sum(getattr(group, each) for group in parts) == getattr(found.all, each)
    assert (found.all.collected, found.all.imported) == (found.collected, found.imported)
    text = " ".join(page.content.decode().split())
    assert "2 more ratings need the text of an article." in text
    home = " ".join(client_of(project).get(reverse("home")).content.decode().split())
    assert "<strong>2</strong> of 3 needed ratings" in home


def test_the_end_is_forecast_from_the_ratings_of_the_last_full_days(project):
    rater = make_rater(project)
    for ago in (0, 1, 1, 2, 8):
        collect(project, make_summary(project, open_places=0), rater, timedelta(days=ago))
    rate(project, make_summary(project, open_places=0), make_rater(project, user=None), timedelta(days=1))
    for _ in range(5):
        make_summary(project)
    page = get(client_of(project), project)
    found = page.context["progress"].forecast  # 3 ratings in 2 days, of which 5 need 3.3
    assert (found.pace, found.over) == (1.5, 2)
    assert found.ends_on == timezone.localdate() + timedelta(days=3)
    assert "at 1.5 a day, the mean of 2 full days" in " ".join(page.content.decode().split())


def test_a_project_in_which_nothing_can_be_rated_has_no_expected_end(project):
    make_summary(project, article=make_article(project, text=""))
    text = text_of(client_of(project), project)
    assert "<b>0</b> of 0" in text
    assert "Expected end" not in text


def test_days_count_collected_and_imported_ratings_by_finishing_day(project):
    rater, of_file = make_rater(project), make_rater(project, user=None)
    for ago in (0, 13, 14):
        collect(project, make_summary(project), rater, timedelta(days=ago))
    for ago, named in ((0, of_file), (0, rater), (1, of_file)):
        rate(project, make_summary(project), named, timedelta(days=ago))
    collect(project, make_summary(project), make_rater(project, status=Rater.Status.REMOVED))
    found = get(client_of(project), project).context["progress"]
    days = [(day.collected, day.imported) for day in found.days]
    assert days == [(1, 0), *[(0, 0)] * 11, (0, 1), (1, 2)]
    assert (found.ratings, found.collected, found.imported, found.today) == (6, 3, 3, found.days[-1])
    today = {row.rater.pk: row.today for row in found.raters}
    assert (today[rater.pk], today[of_file.pk]) == (1, 0)


def test_a_raters_pace_is_the_median_time_in_open_stages(project):
    rater = make_rater(project)
    for seconds in (10, 20, 3600):
        rating = collect(project, make_summary(project), rater)
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


def test_suspended_raters_and_open_flags_need_attention(project):
    assert "Needs attention" not in text_of(client_of(project), project)
    make_rater(project, pseudonym="rater-x", status=Rater.Status.SUSPENDED)
    rater, now = make_rater(project), timezone.now()
    assert "1 rater is suspended: rater-x." in text_of(client_of(project), project)
    assignment = rater.assignments.create(
        summary=make_summary(project), state="done", stage=3, stage_opened_at=now, leased_until=now
    )
    flag_article(rater, assignment.pk, "It ends in the middle.")
    assert "1 flag of an article is open." in text_of(client_of(project, "researcher"), project)


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


def test_twenty_rows_need_no_more_queries_than_ten(project, django_assert_max_num_queries):
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
