"""The pages of raters, and what they keep to themselves."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import protocol
from annotation.models import Rater, Rating
from annotation.people.members import remove_rater
from annotation.projects.closing import close_campaign
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_summaries, rate_all


@pytest.fixture
def project(db):
    return make_project(protocol.SEAHORSE)


@pytest.fixture
def rated(project):
    """Return a project with two raters who agree on every second summary; the first one's times are known."""
    summaries = make_summaries(project, ["x", "y"], ["s", "t", "u"])
    first, second = make_rater(project, pseudonym="rater-1"), make_rater(project, pseudonym="rater-2")
    rate_all((summary, first, {"comprehensibility": "yes"}) for summary in summaries)
    rate_all(
        (summary, second, {"comprehensibility": "yes" if place % 2 else "no"})
        for place, summary in enumerate(summaries)
    )
    opened = timezone.now()
    Rating.objects.filter(rater=first).update(
        stage_times=[
            {
                "stage": 1,
                "opened_at": opened.isoformat(),
                "submitted_at": (opened + timedelta(seconds=48)).isoformat(),
            }
        ]
    )
    return project


def page_of(client, name, project, *args):
    answer = client.get(reverse(name, args=[project.slug, *args]))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_an_empty_project_says_so(client, project):
    client.force_login(make_member(project, "researcher"))
    assert "No raters yet" in page_of(client, "raters", project)


def test_raters_are_listed_and_described_by_pseudonym(client, rated):
    researcher = make_member(rated, "researcher")
    Rater.objects.filter(pseudonym="rater-1").update(
        user=User.objects.create_user("jane", email="jane@example.org")
    )
    client.force_login(researcher)
    first = rated.raters.get(pseudonym="rater-1")
    listed, shown = page_of(client, "raters", rated), page_of(client, "rater", rated, first.pk)
    assert "rater-1" in listed
    assert "<b>.500</b>" in listed
    assert "48 s" in listed
    for part in ("Agreement without this rater", "rater-2", "Yes <b>100.0%</b>", "48 s"):
        assert part in shown
    assert "Remove…" not in shown
    for page in (listed, shown):
        assert "jane" not in page


def test_raters_pages_say_that_their_intervals_are_for_a_single_look(client, rated):
    manager = make_member(rated, "manager")
    client.force_login(manager)
    addresses = [("raters",), ("rater", rated.raters.get(pseudonym="rater-1").pk)]
    for name, *args in addresses:
        page = page_of(client, name, rated, *args)
        assert page.count("For a single look:</b> while ratings come in, intervals like these mislead") == 1
        assert "Show those that hold at every look" not in page
    close_campaign(rated, manager)
    for name, *args in addresses:
        page = page_of(client, name, rated, *args)
        assert "Its ratings are final, so intervals are for a single look." in page
        assert "while ratings come in" not in page


def test_without_an_interval_raters_pages_say_nothing_of_looks(client, project):
    [summary] = make_summaries(project, ["x"], ["s"])
    first, second = make_rater(project), make_rater(project)
    rate_all((summary, rater, {"comprehensibility": "yes"}) for rater in (first, second))
    client.force_login(make_member(project, "researcher"))
    for page in (page_of(client, "raters", project), page_of(client, "rater", project, first.pk)):
        assert "<b>1.000</b>" in page, "one article has a figure and no interval"
        assert "single look" not in page


def test_the_question_before_a_removal_shows_alpha_without_the_rater(client, rated):
    client.force_login(make_member(rated, "manager"))
    first = rated.raters.get(pseudonym="rater-1")
    asked = page_of(client, "rater_remove", rated, first.pk)
    assert reverse("rater_without", args=[rated.slug, first.pk]) in asked
    shown = page_of(client, "rater_without", rated, first.pk)
    assert "α without" in shown
    assert "Comprehensible" in shown


def test_a_removed_rater_has_no_figures(client, rated):
    client.force_login(make_member(rated, "manager"))
    first = rated.raters.get(pseudonym="rater-1")
    remove_rater(first)
    assert "none of their ratings counts" in page_of(client, "rater", rated, first.pk)
    assert "agreement stays as it is" in page_of(client, "rater_without", rated, first.pk)


def test_removing_one_of_two_raters_says_why_agreement_is_undefined_without_them(rated):
    client = Client()
    client.force_login(make_member(rated, "manager"))
    rater = rated.raters.get(pseudonym="rater-2")
    page = client.get(reverse("rater_without", args=[rated.slug, rater.pk])).content.decode()
    assert "α without them is undefined, because no summary has two ratings or more." in page
