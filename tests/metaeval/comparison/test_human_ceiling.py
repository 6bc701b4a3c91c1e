"""The human ceiling: agreement of one rater with the others."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from annotation import protocol
from metaeval.comparison.human_ceiling import (
    NOT_OFFERED,
    ONE_RATING_EACH,
    ceiling,
    decision_ceiling,
    rater_turns,
)
from metaeval.snapshot.arrays import Decisions, HumanRatings, QuestionRatings, Summaries
from metaeval.snapshot.label_rules import labels_by
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_summaries, rate

ANSWERS = np.array([[1, 2, 1], [3, 3, 5], [4, 5, 4], [2, 1, 1], [5, 4, 5], [2, 2, 3]])


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


def rate_all(project, answers, groups=("", "", "")):
    summaries = make_summaries(project, [f"a{n}" for n in range(len(answers))], ["s"])
    raters = [make_rater(project, group=group) for group in groups]
    for summary, given in zip(summaries, answers, strict=True):
        for rater, answer in zip(raters, given, strict=False):
            rate(summary, rater, coherence=str(answer))
    return summaries


def ceiling_of(project, coefficient="spearman", counted=None, group=""):
    snapshot = snapshot_of(project)
    everything = np.ones(len(snapshot.summaries), dtype=bool)
    ratings, labels = snapshot.human.questions[0], snapshot.labels()[0]
    counted = everything if counted is None else counted
    turns = rater_turns(snapshot.summaries, snapshot.human, ratings, labels, counted, group)
    return ceiling(turns, "pooled", coefficient)


def test_ceiling_is_the_mean_of_each_rater_against_the_others_mean(project):
    rate_all(project, ANSWERS)
    expected = np.mean(
        [
            stats.spearmanr(ANSWERS[:, held], np.delete(ANSWERS, held, axis=1).mean(axis=1)).statistic
            for held in range(3)
        ]
    )
    estimate = ceiling_of(project)
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    assert (estimate.n, estimate.articles) == (6, 6)
    assert "held out in turn" in estimate.definition


def test_summaries_rated_once_are_left_out(project):
    rate_all(project, [*ANSWERS.tolist(), [5], [1]])
    assert ceiling_of(project).n == 6


def test_single_ratings_have_no_ceiling_and_a_reason(project):
    rate_all(project, [[1], [2], [3]])
    estimate = ceiling_of(project)
    assert np.isnan(estimate.value)
    assert estimate.reason == ONE_RATING_EACH


def test_only_the_chosen_summaries_and_group_count(project):
    rate_all(project, ANSWERS, groups=("expert", "expert", "crowd"))
    experts = ceiling_of(project, group="expert")
    assert experts.value == pytest.approx(stats.spearmanr(ANSWERS[:, 0], ANSWERS[:, 1]).statistic, abs=1e-12)
    assert ceiling_of(project, counted=np.arange(6) < 4).n == 4


def ceiling_by(project, rule, decided=()):
    """Return the ceiling on labels by a rule; `decided` are (place, number) of decisions on summaries."""
    snapshot = snapshot_of(project)
    ratings = snapshot.human.questions[0]
    places, numbers = np.array(decided, dtype=float).reshape(-1, 2).T
    decisions = {ratings.question.key: Decisions(places.astype(int), numbers)}
    human = replace(snapshot.human, decisions=decisions)
    labels = labels_by(rule, human, ratings, len(snapshot.summaries))
    everything = np.ones(len(snapshot.summaries), dtype=bool)
    turns = rater_turns(snapshot.summaries, human, ratings, labels, everything)
    return ceiling(turns, "pooled", "pearson", rule=rule)


def test_with_majority_labels_one_rater_is_compared_with_the_others_majority(project):
    answers = [[1, 2, 2, 5], [3, 3, 5, 1], [4, 5, 4, 4], [2, 1, 1, 1], [5, 4, 5, 5]]
    rate_all(project, answers, groups=("",) * 4)
    of_each = []
    for held in range(4):
        others = [np.delete(given, held) for given in answers]
        most = [stats.mode(each) for each in others]
        kept = [place for place, each in enumerate(most) if each.count > 1]
        rater = [answers[place][held] for place in kept]
        of_each.append((stats.pearsonr(rater, [most[place].mode for place in kept]).statistic, len(kept)))
    found = ceiling_by(project, "majority")
    values, sizes = zip(*of_each, strict=True)
    assert found.value == pytest.approx(np.average(values, weights=sizes))
    assert "the answer given most often among the summary's other ratings" in found.definition


def test_with_adjudicated_labels_one_rater_is_compared_with_the_decisions(project):
    rate_all(project, ANSWERS)
    decided = [(place, 1 + (3 * place + 1) % 5) for place in range(6)]
    expected = [
        stats.pearsonr(ANSWERS[:, held], [number for _, number in decided]).statistic for held in range(3)
    ]
    found = ceiling_by(project, "adjudicated", decided)
    assert found.value == pytest.approx(np.mean(expected))
    assert "the adjudicated or gold answer where there is one" in found.definition
    # Without decisions the others' mean remains.
    assert ceiling_by(project, "adjudicated").value == pytest.approx(ceiling_by(project, "mean").value)
    assert found.value != pytest.approx(ceiling_by(project, "mean").value)


def test_labels_of_a_fitted_model_have_no_ceiling_and_a_reason(project):
    rate_all(project, ANSWERS)
    found = ceiling_by(project, "dawid_skene")
    assert np.isnan(found.value)
    assert found.reason == NOT_OFFERED


def test_raters_in_full_agreement_have_a_ceiling_of_1(project):
    rate_all(project, np.repeat(ANSWERS[:, :1], 3, axis=1))
    assert ceiling_of(project, "kendall_b").value == pytest.approx(1.0)


def test_equal_means_are_tied_despite_rounding():
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in their last digit."""
    given = np.random.default_rng(0).integers(1, 4, size=(30, 4)) / 10
    places, raters = np.indices(given.shape)
    numbers, answers = np.unique(given, return_inverse=True)
    scale = protocol.Scale(protocol.ScaleKind.INTERVAL)
    question = protocol.Question("q", "q", "Q", "How good?", 1, scale)
    ratings = QuestionRatings(
        question, tuple(map(str, numbers)), places.ravel(), raters.ravel(), answers.ravel()
    )
    human = HumanRatings((ratings,), ("",) * 4, "", "")
    codes = np.arange(30)
    summaries = Summaries(codes, codes * 0, codes * 0, codes * 0, ("s",), ("en",), ())
    expected = [
        stats.spearmanr(given[:, held], np.delete(given, held, axis=1).mean(axis=1).round(9)).statistic
        for held in range(4)
    ]
    labels = labels_by("mean", human, ratings, 30)
    turns = rater_turns(summaries, human, ratings, labels, np.ones(30, dtype=bool))
    found = ceiling(turns, "pooled", "spearman")
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)


SAYS_YES = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0]])


def decision_ceiling_of(statistic, answers, key="comprehensibility", counted=None):
    project = make_project()
    summaries = make_summaries(project, [f"a{n}" for n in range(len(answers))], ["s"])
    for rater, given in zip(
        (make_rater(project) for _ in answers[0]), zip(*answers, strict=True), strict=True
    ):
        for summary, answer in zip(summaries, given, strict=True):
            if answer is not None:
                rate(summary, rater, comprehensibility={1: "yes", 0: "no", "?": "unsure"}[answer])
    snapshot = snapshot_of(project)
    (ratings,) = (each for each in snapshot.human.questions if each.question.key == key)
    (labels,) = (each for each in snapshot.labels() if each.key == key)
    everything = np.ones(len(snapshot.summaries), dtype=bool)
    of_question = snapshot.summaries, snapshot.human, ratings, labels
    turns = rater_turns(*of_question, everything if counted is None else counted)
    return decision_ceiling(turns, statistic)


def compute_ceiling_by_hand(statistic):
    """Return the mean agreement of each rater with the other two where these two agree."""
    found, sizes = [], []
    for held in range(3):
        others = np.delete(SAYS_YES, held, axis=1)
        kept = others[:, 0] == others[:, 1]
        rater, most = SAYS_YES[kept, held], others[kept, 0]
        observed = np.mean(rater == most)
        by_chance = rater.mean() * most.mean() + (1 - rater.mean()) * (1 - most.mean())
        found.append(observed if statistic == "accuracy" else (observed - by_chance) / (1 - by_chance))
        sizes.append(kept.sum())
    return np.average(found, weights=sizes)


@pytest.mark.django_db
@pytest.mark.parametrize("statistic", ["accuracy", "kappa"])
def test_decisions_are_compared_with_the_majority_of_other_raters(statistic):
    found = decision_ceiling_of(statistic, SAYS_YES.tolist())
    assert found.value == pytest.approx(compute_ceiling_by_hand(statistic))
    assert "held out in turn" in found.definition


@pytest.mark.django_db
def test_the_accuracy_ceiling_of_two_raters_is_their_agreement():
    answers = [[1, 1], [1, 0], [0, 0], [0, "?"], [1, None]]
    assert decision_ceiling_of("accuracy", answers).value == pytest.approx(2 / 3)
    assert (
        decision_ceiling_of("accuracy", answers, counted=np.array([1, 0, 1, 1, 1], dtype=bool)).value == 1.0
    )


@pytest.mark.django_db
def test_decisions_without_two_ratings_have_no_ceiling():
    assert decision_ceiling_of("kappa", [[1, None], [None, 0]]).reason == ONE_RATING_EACH


def test_decisions_have_a_ceiling_only_on_yes_no_questions(project):
    rate_all(project, ANSWERS)
    snapshot = snapshot_of(project)
    everything = np.ones(len(snapshot.summaries), dtype=bool)
    of_question = snapshot.summaries, snapshot.human, snapshot.human.questions[0], snapshot.labels()[0]
    found = decision_ceiling(rater_turns(*of_question, everything), "kappa")
    assert found.reason == "decisions are compared on yes/no questions alone"
