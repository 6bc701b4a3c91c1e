"""The page of a rater's qualification, and the manager's decisions on it."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.gold.qualified_languages import qualified_languages
from annotation.gold.rounds import next_in_round, start_round
from annotation.models import Rater
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import submit_stage, text_of
from tests.factories import make_gold, make_member, make_project, make_rater

pytestmark = pytest.mark.django_db


@pytest.fixture
def rater():
    return make_rater(make_project(), status=Rater.Status.TRAINING, languages=["de", "en"])


@pytest.fixture
def client(rater):
    client = Client()
    client.force_login(make_member(rater.project, "manager"))
    return client


def address(rater, name="rater_qualification"):
    return reverse(name, args=[rater.project.slug, rater.pk])


def test_the_page_shows_rounds_by_question_and_who_decided(client, rater):
    make_gold(rater.project)
    assignment = next_in_round(start_round(rater, "en"))
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    page = text_of(client.get(address(rater)))
    assert "Round 1: not passed" in page
    assert '<td class="number">0 of 1</td> <td class="number">0%</td> <td class="number">80%</td>' in page
    assert page.count("needs a gold round") == 2
    client.post(address(rater, "rater_qualify"), {"language": "en"})
    page = text_of(client.get(address(rater)))
    assert f"decided by {rater.project.memberships.get().user.username}" in page
    assert page.count("needs a gold round") == 1


def test_a_manager_qualifies_and_requires_another_round_by_post(client, rater):
    done = client.post(address(rater, "rater_qualify"), {"language": "de"}, follow=True)
    assert "is now qualified in German" in text_of(done)
    assert qualified_languages(rater) == ["de"]
    done = client.post(address(rater, "rater_unqualify"), {"language": "de"}, follow=True)
    assert "needs another gold round in German" in text_of(done)
    assert qualified_languages(rater) == []
    assert client.get(address(rater, "rater_qualify")).status_code == 405
    assert client.post(address(rater, "rater_qualify"), {"language": "vi"}).status_code == 400


def test_a_manager_is_told_who_waits_and_allows_another_round(client, rater):
    rater.project.gold_rounds = 1
    rater.project.save()
    make_gold(rater.project)
    assignment = next_in_round(start_round(rater, "en"))
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    people = text_of(client.get(reverse("people", args=[rater.project.slug])))
    assert f">{rater.pseudonym}, English</a>" in people
    own = Client()
    own.force_login(rater.user)
    own.post(reverse("rate_languages", args=[rater.project.slug]), {"language": "en"})
    asked = text_of(own.get(reverse("rate", args=[rater.project.slug])))
    assert "decides whether you try again" in asked
    assert "Start next round" not in asked
    assert "your decision" in text_of(client.get(address(rater)))
    page = text_of(client.post(address(rater, "rater_allow_round"), {"language": "en"}, follow=True))
    assert "can do another gold round in English" in page
    assert "allowed by" in page
