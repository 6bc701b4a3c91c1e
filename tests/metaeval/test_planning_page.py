"""The planning page through its address: what it shows, live, empty, and as a file."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from annotation import protocol
from annotation.models import Project
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, rate_all, score

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def judged(project):
    rng = np.random.default_rng(3)
    summaries = make_summaries(project, [f"article {place}" for place in range(15)], ["a", "b"])
    truth = {summary: int(rng.integers(1, 6)) for summary in summaries}
    rater = make_rater(project)
    rate_all((summary, rater, {"coherence": str(point)}) for summary, point in truth.items())
    for label, noise in (("Good", 0.5), ("Poor", 9.0)):
        score(make_setup(project, label), {s: t + noise * rng.normal() for s, t in truth.items()})
    return project


@pytest.fixture
def researcher(client, project):
    client.force_login(make_member(project, "researcher"))
    return client


def page(client, project, query=None, **headers):
    answer = client.get(reverse("planning", args=[project.slug]), query or {}, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def key(project, label):
    return str(project.setups.get(label=label).pk)


def test_it_plans_for_the_first_evaluator_and_against_another(researcher, judged):
    shown = page(researcher, judged)
    assert "Good, to within ± 0.05" in shown
    assert "Good told apart from Poor" in shown
    assert "n 30" in shown
    assert "fewer than 10 articles" in shown  # nobody has rated fluency


def test_the_other_way_round_and_another_width(researcher, judged):
    shown = page(researcher, judged, {"evaluator": key(judged, "Poor"), "wished": "0.01"})
    assert "Poor, to within ± 0.01" in shown
    assert "Poor told apart from Good" in shown


def test_the_file_has_both_tables(researcher, judged):
    answer = researcher.get(reverse("planning_csv", args=[judged.slug]), {"wished": "0.02"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    coherence = [row for row in rows if row["dimension"] == "coherence"]
    assert [(row["against"], row["wished"]) for row in coherence] == [("", "0.02"), ("Poor", "")]
    assert all(row["definition"] and row["status"] for row in rows)
    assert int(coherence[0]["summaries_wanted"]) > 30


def test_nothing_new_is_nothing_sent_and_news_replace_places_that_are_there(researcher, judged):
    revision = Project.objects.get(pk=judged.pk).revision
    address = reverse("planning", args=[judged.slug])
    assert researcher.get(address, {"revision": revision}, **HTMX).status_code == 204
    judged.bump_revision()
    fragment, whole = page(researcher, judged, {"revision": revision}, **HTMX), page(researcher, judged)
    for identifier in ("pages", "lede", "status", "numbers", "how"):
        assert f'id="{identifier}" hx-swap-oob' in fragment
        assert whole.count(f'id="{identifier}"') == 1


def test_an_empty_project_says_what_to_do_next(client, project):
    client.force_login(make_member(project, "manager"))
    assert "No ratings yet" in page(client, project)


def test_labels_without_scores_say_to_run_an_evaluator(researcher, project):
    for summary in make_summaries(project, ["x"], ["a"]):
        rate(summary, make_rater(project), coherence="3")
    assert "No scores yet" in page(researcher, project)


def test_one_evaluator_alone_is_told_apart_from_nobody(researcher, judged):
    shown = page(researcher, judged, {"only": key(judged, "Good")})
    assert "Good, to within" in shown
    assert "told apart from" not in shown


@pytest.mark.parametrize("query", [{"wished": "0.3"}, {"evaluator": "0"}, {"against": "0"}, {"level": "x"}])
def test_a_choice_that_does_not_exist_is_refused(researcher, judged, query):
    assert researcher.get(reverse("planning", args=[judged.slug]), query).status_code == 400


def test_whoever_is_chosen_twice_is_told_apart_from_another_one(researcher, judged):
    same = key(judged, "Poor")
    assert "Poor told apart from Good" in page(researcher, judged, {"evaluator": same, "against": same})
