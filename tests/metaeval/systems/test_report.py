"""Means of systems: of labels, of labels supported by scores, and of scores."""

from dataclasses import replace

import numpy as np
import pytest

from annotation import protocol
from metaeval.comparison.comparison import compare
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.labels.label_mean import label_mean
from metaeval.stats.labels.prediction_powered import prediction_powered
from metaeval.systems.report import label_figures, powered_figures, score_figures
from scoring.models import SeenArticle
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, rate_all, score

ARTICLES = 40
LABELLED = 12
"""Of the articles; all have scores."""


@pytest.fixture
def project(db):
    """Return systems a (good) and b (poor) with half of their summaries rated and all scored."""
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, [f"article {place}" for place in range(ARTICLES)], ["a", "b"])
    rater, rng = make_rater(project), np.random.default_rng(4)
    truth = {
        summary: int(rng.integers(3, 6) if place % 2 == 0 else rng.integers(1, 4))
        for place, summary in enumerate(summaries)
    }
    rate_all((each, rater, {"coherence": str(truth[each])}) for each in summaries[: 2 * LABELLED])
    score(make_setup(project, "Closeness"), {s: t + 0.3 * rng.random() for s, t in truth.items()})
    score(make_setup(project, "Length"), {s: float(t) for s, t in truth.items()}, "fluency")
    return project


def report(project):
    snapshot = snapshot_of(project)
    comparison = compare(snapshot.summaries, snapshot.evaluators)
    evaluators = {each.label: each for each in comparison.evaluators}
    return comparison, snapshot.labels()[0], evaluators


def test_each_system_has_a_mean_label_with_an_interval(project):
    comparison, coherence, _ = report(project)
    a, b = label_figures(comparison, coherence)
    own = comparison.summaries.systems == 0
    expected = label_mean(coherence.values[own], comparison.summaries.articles[own])
    assert (a.system, b.system) == ("a", "b")
    assert a.estimate.value == pytest.approx(np.nanmean(coherence.values[own]))
    assert a.estimate.interval.low == pytest.approx(max(1.0, expected.interval.low))
    assert a.estimate.interval.high == pytest.approx(min(5.0, expected.interval.high))
    assert (a.estimate.labelled, a.estimate.scored_only) == (LABELLED, 0)
    assert (a.is_best, a.is_worst, b.is_best, b.is_worst) == (True, False, False, True)


def test_scores_of_unlabelled_summaries_support_the_mean(project):
    comparison, coherence, evaluators = report(project)
    alone, helped = (
        label_figures(comparison, coherence)[0],
        powered_figures(comparison, coherence, evaluators["Closeness"])[0],
    )
    own = comparison.summaries.systems == 0
    scores = evaluators["Closeness"].on("coherence").values
    expected = prediction_powered(comparison.summaries.rows(own, coherence, scores[own]))
    assert helped.estimate.value == expected.value
    assert (helped.estimate.labelled, helped.estimate.scored_only) == (LABELLED, ARTICLES - LABELLED)
    widths = [each.estimate.interval.high - each.estimate.interval.low for each in (alone, helped)]
    assert widths[1] < widths[0]


def test_intervals_stay_within_the_scale(project):
    comparison, coherence, _ = report(project)
    for figure in label_figures(comparison, coherence):
        assert (
            1 <= figure.estimate.interval.low <= figure.estimate.value <= figure.estimate.interval.high <= 5
        )
        assert "cut at the ends of the scale" in figure.as_json()["definition"]


def test_an_evaluator_of_another_dimension_adds_nothing(project):
    comparison, coherence, evaluators = report(project)
    assert powered_figures(comparison, coherence, evaluators["Length"]) == []
    assert score_figures(comparison, "coherence", evaluators["Length"]) == []


def test_mean_scores_cover_all_scored_summaries(project):
    comparison, _, evaluators = report(project)
    a, b = score_figures(comparison, "coherence", evaluators["Closeness"])
    assert a.estimate.scored_only == ARTICLES
    assert a.estimate.labelled == 0
    assert a.is_best
    assert b.is_worst


def test_the_lowest_mean_of_lower_is_better_scores_is_best(project):
    comparison, _, evaluators = report(project)
    reversed_one = replace(evaluators["Closeness"], higher_is_better=False)
    a, b = score_figures(comparison, "coherence", reversed_one)
    assert (a.is_worst, b.is_best) == (True, True)


def test_equal_means_are_not_marked_as_best_or_worst(db):
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project)
    for summary in make_summaries(project, ["x", "y"], ["a", "b"]):
        rate(summary, rater, coherence="3")
    comparison, coherence, _ = report(project)
    figures = label_figures(comparison, coherence)
    assert not any(each.is_best or each.is_worst for each in figures)
    row = figures[0].as_json()
    assert (row["value"], row["low"], row["high"]) == (3.0, None, None)
    assert "all values are equal" in row["interval_reason"]


def test_an_evaluators_seen_articles_are_left_out_of_its_figures_alone(project):
    before = label_figures(*report(project)[:2])
    setup = project.setups.get(label="Closeness")
    for article in project.articles.order_by("pk")[:3]:
        SeenArticle.objects.create(setup=setup, article=article, role="example")
    project.bump_revision()
    comparison, coherence, evaluators = report(project)
    after = label_figures(comparison, coherence)
    assert [each.as_json() for each in after] == [each.as_json() for each in before]
    assert "seen" not in after[0].as_json()["definition"]
    reason = {"articles seen by Closeness": 3}
    [powered, _] = powered_figures(comparison, coherence, evaluators["Closeness"])
    assert (powered.estimate.labelled, powered.estimate.scored_only) == (LABELLED - 3, ARTICLES - LABELLED)
    assert powered.as_json()["left_out"] == reason
    [scored, _] = score_figures(comparison, "coherence", evaluators["Closeness"])
    assert scored.estimate.scored_only == ARTICLES - 3
    assert scored.as_json()["left_out"] == reason
    [other, _] = score_figures(comparison, "fluency", evaluators["Length"])
    assert other.estimate.scored_only == ARTICLES
    assert other.as_json()["left_out"] == {}


def test_systems_without_labels_are_undefined_with_a_reason(db):
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, ["x"], ["a", "b"])
    rate(summaries[0], make_rater(project), coherence="3")
    comparison, coherence, _ = report(project)
    row = label_figures(comparison, coherence)[1].as_json()
    assert (row["system"], row["value"], row["reason"]) == ("b", None, "no summary has a label")
