"""Plans of a project, in articles, summaries and ratings."""

import math

import numpy as np
import pytest

from annotation import protocol
from metaeval.comparison.comparison import compare
from metaeval.planning.report import BEYOND, MORE, REACHED, UNDEFINED, plan_figures
from metaeval.snapshot.snapshot import snapshot_of
from scoring.models import SeenArticle
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score

ARTICLES = 24


@pytest.fixture
def project(db):
    """Return 24 articles by two systems, rated by two raters; ratings of fluency are random."""
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, [f"article {place:02}" for place in range(ARTICLES)], ["a", "b"])
    raters, rng = [make_rater(project, group=group) for group in ("one", "two")], np.random.default_rng(4)
    truth = {summary: int(rng.integers(1, 6)) for summary in summaries}
    rate_all(
        (summary, rater, {"coherence": str(truth[summary]), "fluency": str(int(rng.integers(1, 6)))})
        for summary in summaries
        for rater in raters
    )
    for label, noise in (("Good", 0.5), ("Nearly as good", 0.6), ("Poor", 30.0)):
        score(make_setup(project, label), {s: t + noise * rng.normal() for s, t in truth.items()})
    score(make_setup(project, "Other"), {s: float(t) for s, t in truth.items()}, "relevance")
    return project


def make_plans(project, evaluator="Good", against="", target=0.05, group="", **method):
    snapshot = snapshot_of(project)
    comparison = compare(snapshot.summaries, snapshot.evaluators)
    by_label = {each.label: each for each in comparison.evaluators}
    labels = [each for each in snapshot.labels(group) if each.key in ("coherence", "fluency")]
    given = {"level": "pooled", "coefficient": "spearman", "group": group} | method
    if against:
        given["against"] = by_label[against]
    else:
        given["target"] = target
    return plan_figures(comparison, snapshot.human, labels, by_label[evaluator], **given)


def test_planned_articles_are_converted_to_summaries_and_ratings(project):
    coherence, fluency = make_plans(project, target=0.02)
    assert (coherence.plan.articles, coherence.plan.summaries, coherence.ratings) == (24, 48, 96)
    assert coherence.status == MORE
    assert fluency.plan.wanted > coherence.plan.wanted > 24
    assert coherence.summaries == tuple(
        2 * each for each in (coherence.plan.wanted, coherence.plan.wanted_low, coherence.plan.wanted_high)
    )
    assert coherence.all_ratings[0] == 4 * coherence.plan.wanted
    assert coherence.more_ratings == 4 * (coherence.plan.wanted - 24)
    row = coherence.as_json()
    assert row["ratings_wanted"] == coherence.all_ratings[0]
    assert row["summaries_wanted_low"] < row["summaries_wanted"] < row["summaries_wanted_high"]


def test_a_group_filter_counts_only_its_ratings(project):
    (coherence, _) = make_plans(project, group="one")
    assert coherence.ratings == 48


def test_a_target_that_is_met_needs_no_more_ratings(project):
    (coherence, _) = make_plans(project, target=0.5)
    assert coherence.status == REACHED
    assert coherence.more_ratings == 0
    assert coherence.as_json()["status"] == "reached"


def test_an_unreachable_target_has_no_number(project):
    (_, fluency) = make_plans(project, target=0.001)
    assert fluency.status == BEYOND
    row = fluency.as_json()
    assert (row["summaries_wanted"], row["ratings_wanted"]) == (None, None)
    assert math.isinf(fluency.more_ratings)


def test_a_clear_difference_is_reached_and_a_slight_one_needs_more(project):
    clear, _ = make_plans(project, against="Poor")
    slight, _ = make_plans(project, against="Nearly as good")
    assert clear.status == REACHED
    assert slight.status in (MORE, BEYOND)
    assert slight.as_json()["against"] == "Nearly as good"
    assert slight.as_json()["target"] is None


def test_dimensions_without_scores_have_no_plan(project):
    assert make_plans(project, evaluator="Other") == []
    assert make_plans(project, against="Other") == []


def test_an_undefined_coefficient_gives_a_reason_instead_of_a_plan(project):
    (coherence, _) = make_plans(project, coefficient="roc_auc")
    row = coherence.as_json()
    assert (coherence.status, row["value"], row["articles_wanted"]) == (UNDEFINED, None, None)
    assert "yes/no" in row["reason"]


def test_seen_articles_are_left_out(project):
    setup = project.setups.get(label="Good")
    SeenArticle.objects.create(setup=setup, article=project.articles.first(), role="example")
    project.bump_revision()
    (coherence, _) = make_plans(project)
    assert (coherence.plan.articles, coherence.ratings) == (23, 92)
    assert coherence.as_json()["left_out"] == {"articles seen by Good": 1}
