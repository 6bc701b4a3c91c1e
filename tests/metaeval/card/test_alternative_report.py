"""The alternative annotator test on a project's ratings and scores."""

from dataclasses import replace

import numpy as np
import pytest

from annotation import protocol
from annotation.models import Rater
from annotation.projects.settings import store_questionnaire
from metaeval.card.alternative_report import (
    BY_FIT,
    NOT_AMONG_THE_ANSWERS,
    ROUNDED,
    RULE,
    UNCHANGED,
    alternative_figures,
)
from metaeval.card.verdicts import CANNOT_TELL, NO, NOT_TESTED, YES
from metaeval.comparison.comparison import compare
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.labels.alternative_annotator import NO_ANSWER
from scoring.models import SeenArticle
from tests.factories import make_project
from tests.metaeval.rated_projects import load_summeval, make_setup, make_summaries, rate, score


def make_rated_project(questionnaire, key, answers, groups=("", "", "")):
    """Create 40 articles with one summary each, rated with `answers[rater][article]`."""
    project = make_project(questionnaire)
    summaries = make_summaries(project, [f"a{place:02}" for place in range(40)], ["s"])
    for number, (given, group) in enumerate(zip(answers, groups, strict=True)):
        rater = Rater.objects.create(project=project, pseudonym=f"r{number}", group=group, status="qualified")
        for summary, answer in zip(summaries, given, strict=True):
            rate(summary, rater, **{key: answer})
    return project, summaries


def figure_of(project, label, key, epsilon=0.2, higher_is_better=True, **options):
    snapshot = snapshot_of(project)
    evaluator = next(each for each in snapshot.evaluators if each.label == label)
    evaluator = replace(evaluator, higher_is_better=higher_is_better)
    ratings = next(each for each in snapshot.human.questions if each.question.key == key)
    comparison = compare(snapshot.summaries, snapshot.evaluators, on=ratings.question.dimension)
    (figure,) = alternative_figures(
        comparison, snapshot.human, ratings, evaluator, epsilons=[epsilon], **options
    )
    return figure


def definitions_of(figure):
    return " ".join(figure.definitions)


@pytest.fixture
def yes_no(db):
    rng = np.random.default_rng(2)
    truth = rng.random(40) < 0.5
    answers = [np.where(rng.random(40) < 0.8, truth, ~truth) for _ in range(4)]
    words = [["yes" if each else "no" for each in given] for given in answers]
    words[3] = ["unsure"] * 40
    project, summaries = make_rated_project(protocol.SEAHORSE, "grammar", words, ("", "", "", ""))
    score(make_setup(project, "in percent"), dict(zip(summaries, (90.0 * truth).tolist(), strict=True)))
    score(make_setup(project, "exact"), dict(zip(summaries, truth.astype(float).tolist(), strict=True)))
    return project, summaries


def test_scores_in_other_units_are_cut_and_unsure_answers_are_left_out(yes_no):
    in_percent = figure_of(yes_no[0], "in percent", "grammar")
    exact = figure_of(yes_no[0], "exact", "grammar")
    assert BY_FIT in definitions_of(in_percent)
    assert UNCHANGED in definitions_of(exact)
    assert "Its most frequent answer is" in definitions_of(exact)
    assert in_percent.test.winning_rate == exact.test.winning_rate == 1.0
    assert in_percent.test.passes
    assert in_percent.test.raters == 3  # the fourth was never sure
    assert "Questionnaire seahorse, wording" in definitions_of(in_percent)


def test_articles_seen_by_any_evaluator_are_left_out(yes_no):
    project, summaries = yes_no
    setup = project.setups.get(label="exact")
    SeenArticle.objects.create(setup=setup, article=summaries[0].article, role="example")
    project.bump_revision()
    figure = figure_of(project, "in percent", "grammar")
    assert figure.test.summaries == 39
    assert figure.test.left_out == {"articles seen by exact": 1}


def test_too_few_raters_give_a_reason_instead_of_a_number(db):
    project, summaries = make_rated_project(protocol.SUMMEVAL, "fluency", [["3", "4"] * 20] * 2, ("", ""))
    score(make_setup(project, "E"), dict.fromkeys(summaries, 3.0))
    figure = figure_of(project, "E", "fluency")
    test = figure.test
    assert (figure.verdict, figure.trivial) == (NOT_TESTED, ())
    assert np.isnan([test.winning_rate, test.advantage]).all()
    assert test.reason.startswith("fewer than 3 raters")


def test_scores_are_not_converted_to_nominal_answers(db):
    scale = protocol.Scale(protocol.ScaleKind.NOMINAL, ("a", "b", "c"), {"a": 0.0, "b": 1.0, "c": 2.0})
    question = protocol.Question("kind", "kind", "Kind", "?", 1, scale)
    questionnaire = protocol.Questionnaire("kinds", "Kinds", ("All",), (question,))
    store_questionnaire(questionnaire)
    project, summaries = make_rated_project(questionnaire, "kind", [["a", "b", "c", "a"] * 10] * 3)
    score(make_setup(project, "E"), dict.fromkeys(summaries, 0.5))
    figure = figure_of(project, "E", "kind")
    assert figure.test.reason == NOT_AMONG_THE_ANSWERS
    score(make_setup(project, "F"), dict.fromkeys(summaries, 2.0))
    assert figure_of(project, "F", "kind").test.winning_rate == 0.0


def test_scores_are_rounded_to_the_nearest_point_of_the_scale(db):
    points = ["4", "5"] * 20
    project, summaries = make_rated_project(protocol.SUMMEVAL, "fluency", [points] * 3)
    near = {summary: float(point) - 0.3 for summary, point in zip(summaries, points, strict=True)}
    score(make_setup(project, "E"), near)
    figure = figure_of(project, "E", "fluency", epsilon=0.1)
    assert (figure.test.winning_rate, figure.test.advantage) == (1.0, 1.0)
    assert "Its most frequent answer is 4, on 50% of the summaries." in definitions_of(figure)


def test_an_evaluator_without_scores_on_the_dimension_is_not_tested(db):
    project, summaries = make_rated_project(protocol.SUMMEVAL, "fluency", [["3", "4"] * 20] * 3)
    score(make_setup(project, "E"), dict.fromkeys(summaries, 3.0), "coherence")
    with pytest.raises(KeyError, match="E does not score fluency"):
        figure_of(project, "E", "fluency")


def answers_of(truth, noise, seed):
    """Return three raters' answers on 1 to 5: the truth, each with noise of its own."""
    rng = np.random.default_rng(seed)
    noisy = truth + rng.normal(0, noise, (3, len(truth)))
    return [[str(each) for each in given] for given in np.clip(np.round(noisy), 1, 5).astype(int)]


def test_scores_that_know_nothing_are_not_taken_for_a_rater(db):
    """Most answers are 4 or 5, so a fit makes random scores a constant, which passes at every margin."""
    truth = np.random.default_rng(1).choice([4.0, 4.4, 4.6], 40)
    project, summaries = make_rated_project(protocol.SUMMEVAL, "fluency", answers_of(truth, 0.5, 2))
    random = np.random.default_rng(3).normal(size=40)
    score(make_setup(project, "random"), dict(zip(summaries, random.tolist(), strict=True)))
    score(make_setup(project, "constant"), dict.fromkeys(summaries, -7.0))
    for name in ("random", "constant"):
        figure = figure_of(project, name, "fluency")
        assert figure.test.passes
        assert figure.constant.passes
        assert not figure.constant.is_beaten
        assert figure.verdict == CANNOT_TELL
        assert RULE in definitions_of(figure)
    named = [name for name, _ in figure.trivial]
    assert named[0] in ("constant answer 4", "constant answer 5")
    assert named[1] == "shuffled scores"


def test_a_good_evaluator_may_replace_a_rater_and_one_that_is_the_wrong_way_round_may_not(db):
    truth = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 8)
    project, summaries = make_rated_project(protocol.SUMMEVAL, "fluency", answers_of(truth, 0.7, 4))
    for label, scores in (("good", 20 * truth), ("wrong way round", -20 * truth), ("constant", 0 * truth)):
        score(make_setup(project, label), dict(zip(summaries, scores.tolist(), strict=True)))
    good = figure_of(project, "good", "fluency")
    assert (good.test.passes, good.verdict, good.tone) == (True, YES, "good")
    assert all(each.is_beaten and not each.passes for _, each in good.trivial)
    for label in ("wrong way round", "constant"):
        figure = figure_of(project, label, "fluency")
        assert (figure.test.passes, figure.verdict) == (False, NO)
        assert not all(each.is_beaten for _, each in figure.trivial)


def test_lower_scores_are_better_where_the_evaluator_says_so(db):
    truth = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 8)
    project, summaries = make_rated_project(protocol.SUMMEVAL, "fluency", answers_of(truth, 0.7, 4))
    score(make_setup(project, "errors"), dict(zip(summaries, (-20 * truth).tolist(), strict=True)))
    assert figure_of(project, "errors", "fluency").verdict == NO
    assert figure_of(project, "errors", "fluency", higher_is_better=False).verdict == YES


@pytest.mark.thorough
def test_a_group_of_published_raters_can_be_tested_alone(db, shared):
    project = load_summeval(shared, ["coherence"])
    experts = figure_of(project, "ICE uniform", "coherence", group="expert", epsilon=0.2)
    everyone = figure_of(project, "ICE uniform", "coherence", epsilon=0.1)
    assert BY_FIT in definitions_of(experts)
    assert ROUNDED in definitions_of(experts)
    assert (experts.test.raters, everyone.test.raters) == (3, 8)
    assert experts.test.summaries == everyone.test.summaries == 96 * 12
    assert 0 <= experts.test.winning_rate <= 1
    assert NO_ANSWER not in experts.test.left_out
    assert experts.epsilon == 0.2
