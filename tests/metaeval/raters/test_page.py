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
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_summaries, rate_all


@pytest.fixture
def project(db):
    return make_project(protocol.SEAHORSE)


@pytest.fixture
def rated(project):
    """Return a project with two raters who agree on every second summary; the first one's times are known."""
    summaries = make_summaries(project, ["x", "y"], ["s", "t"])
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
