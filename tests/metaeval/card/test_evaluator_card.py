"""The evaluator card on a small project where it is known what each evaluator does."""

import math
from dataclasses import replace

import numpy as np
import pytest

from annotation import protocol
from annotation.errors import DomainError
from metaeval.card import evaluator_card
from metaeval.card.findings import NO, NOT_TESTED, NOTHING_FOUND, YES, findings
from metaeval.card.material import COPYING, LENGTH
from metaeval.card.page import CardChoices, card_now
from metaeval.choices import MetaevalChoices
from metaeval.metaeval_report import metaeval_rows
from scoring.models import EvaluatorSetup, Score, SeenArticle
from tests.factories import make_project, make_rater
from tests.metaeval.carded_projects import ARTICLES, RATERS, SYSTEMS, make_carded_project
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score

N = ARTICLES * len(SYSTEMS)


pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch):
    monkeypatch.setattr(evaluator_card, "RESAMPLES", 60)


@pytest.fixture
def project():
    return make_carded_project()


def card_of(project, label, **choices):
    setup = EvaluatorSetup.objects.get(project=project, label=label)
    return card_now(project, CardChoices(evaluator=str(setup.pk), **{"question": "coherence", **choices}))


def finding(page, beginning):
    (found,) = (each for each in page.findings if each.question.startswith(beginning))
    return found


def row(page, measure):
    (found,) = (each for each in page.rows if each["measure"] == measure)
    return found


class TestAGoodJudge:
    @pytest.fixture
    def page(self, project):
        return card_of(project, "Judge")

    def test_agreement_is_that_of_the_meta_evaluation(self, project, page):
        only = (page.choices.evaluator,)
        for measured in page.card.agreement:
            choices = MetaevalChoices(
                level=measured.level,
                coefficient=measured.coefficient,
                interval="none",
                test="none",
                only=only,
            )
            (expected,) = (
                each
                for each in metaeval_rows(project, choices, choices.method)
                if each["dimension"] == "coherence"
            )
            assert measured.estimate.value == expected["value"]
            assert measured.estimate.n == expected["n"]
        assert page.card.agreement[0].estimate.n == N

    def test_intervals_hold_the_values_and_raters_agree_too(self, page):
        pooled, article_mean, _ = page.card.agreement
        for measured in (pooled, article_mean):
            assert measured.interval.low <= measured.estimate.value <= measured.interval.high
        assert 0.7 < pooled.ceiling.value < 1
        assert pooled.ceiling.n == N

    def test_what_it_is_good_for_is_said(self, page):
        assert finding(page, "Orders summaries").answer == YES
        assert finding(page, "Better than length").answer == YES
        assert finding(page, "Indifferent to length").answer == NOTHING_FOUND
        assert finding(page, "Scores all").answer == YES
        assert all(each.rule and each.said.endswith(".") for each in page.findings)

    def test_its_mildness_is_found(self, page):
        shift = page.card.level.shift
        labels, scores = page.material.values, page.material.scores
        assert shift.bias == pytest.approx((scores - labels).mean() / 4)
        assert shift.bias_interval.low > 0.1
        assert "within the labels' scale" in page.card.level.rule

    def test_labels_are_cut_in_the_middle_of_their_scale(self, page):
        labels = page.material.values
        threshold = page.card.threshold
        assert threshold.n == np.count_nonzero(labels != 3)
        assert threshold.yeses == np.count_nonzero(labels > 3)
        assert threshold.confusion.kappa.value > 0.5

    def test_the_alternative_annotator_test_has_every_margin(self, page):
        assert [each.epsilon for each in page.card.alternative] == [0.2, 0.15, 0.1]
        assert [len(each.test.raters) for each in page.card.alternative] == [RATERS] * 3
        passed = [each.test.passes for each in page.card.alternative]
        assert finding(page, "Passes").answer == (
            YES if all(passed) else NO if not any(passed) else "not shown"
        )

    def test_every_number_of_the_file_is_defined_or_says_why_not(self, page):
        for each in page.rows:
            assert (each["value"] is None) == ("reason" in each or each["section"] == "finding"), each[
                "measure"
            ]
            assert not (isinstance(each["value"], float) and math.isnan(each["value"]))
            assert each["definition"] or "reason" in each or each["section"] == "coverage", each["measure"]
        assert row(page, "Cohen's kappa, out of fold")["low"] is not None
        assert row(page, "seconds per 1,000 summaries")["reason"]


class TestAnEvaluatorOfLength:
    @pytest.fixture
    def page(self, project):
        return card_of(project, "Longest")

    def test_it_is_caught(self, page):
        assert page.card.traits[LENGTH].value == pytest.approx(1)
        favours = finding(page, "Indifferent to length")
        assert favours.answer == NO
        assert "longer" in favours.said

    def test_it_is_no_better_than_its_own_baseline(self, page):
        (length, _copying) = page.card.baselines
        assert length.estimate.value == pytest.approx(page.card.agreement[0].estimate.value)
        assert finding(page, "Better than length").answer != YES

    def test_general_scores_are_not_meant_on_the_labels_scale(self, page):
        assert page.card.level is None
        assert "general" in page.card.why_no_level
        assert "not applicable" in row(page, "bias")["reason"]

    def test_copying_is_undefined_where_nothing_is_copied(self, page):
        assert page.card.traits[COPYING].reason
        assert finding(page, "Indifferent to copying").answer == NOT_TESTED
        assert page.card.baselines[1].reason


def test_a_favoured_system_stands_out(project):
    rows = Score.objects.filter(setup__label="Judge", summary__system__name="b")
    for each in rows:
        each.value = 1.0
    Score.objects.bulk_update(rows, ["value"])
    project.bump_revision()
    page = card_of(project, "Judge")
    assert page.card.marked_systems[-1][0] == "b"
    assert page.card.marked_systems[-1][1].value < -0.5
    assert "furthest b" in finding(page, "Even-handed").said


def test_an_evaluator_whose_lower_scores_are_better_is_judged_as_its_mirror_image(project):
    page = card_of(project, "Longest")
    mirrored = evaluator_card.evaluator_card(
        replace(
            page.material,
            evaluator=replace(page.evaluator, higher_is_better=False),
            scores=-page.material.scores,
            all_scores=-page.material.all_scores,
        )
    )
    assert mirrored.traits[LENGTH].value == page.card.traits[LENGTH].value
    assert "negated" in mirrored.traits[LENGTH].definition
    assert [each.value for each in mirrored.systems.systems] == pytest.approx(
        [each.value for each in page.card.systems.systems]
    )
    assert mirrored.threshold.value == -page.card.threshold.value
    assert mirrored.threshold.confusion == page.card.threshold.confusion
    assert mirrored.agreement[0].estimate.value == pytest.approx(-page.card.agreement[0].estimate.value)
    assert [each.difference for each in mirrored.baselines] == pytest.approx(
        [each.difference for each in page.card.baselines], nan_ok=True
    )
    for before, after in zip(findings(page.card), findings(mirrored), strict=True):
        if not after.question.startswith("Passes"):
            assert before.answer == after.answer, after.question


def test_missing_scores_are_counted_by_reason_and_bounded(project):
    first = Score.objects.filter(setup__label="Judge").order_by("pk")[:10]
    for each in first:
        each.value, each.reason = None, "reply cut"
    Score.objects.bulk_update(first, ["value", "reason"])
    project.bump_revision()
    page = card_of(project, "Judge")
    bounds = page.card.bounds
    assert page.material.why_unscored == {"reply cut": 10}
    assert (page.card.shape.n, page.card.shape.missing) == (N - 10, 10)
    assert bounds.low < page.card.agreement[0].estimate.value < bounds.high
    assert finding(page, "Scores all").answer == NO
    assert row(page, "labelled and scored")["left_out"] == {"reply cut": 10}


def test_articles_that_the_evaluator_has_seen_are_left_out_but_not_those_of_others(project):
    articles = list(project.articles.order_by("pk")[:3])
    for label, article in zip(("Judge", "Judge", "Longest"), articles, strict=True):
        setup = EvaluatorSetup.objects.get(project=project, label=label)
        SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
    project.bump_revision()
    page = card_of(project, "Judge")
    assert page.material.comparison.seen == {"articles seen by Judge": 2}
    assert page.material.n_labelled == N - 2 * len(SYSTEMS)
    assert row(page, "summaries")["left_out"] == {"articles seen by Judge": 2}


def test_an_evaluator_that_does_not_score_the_question_has_no_card_on_it(project):
    page = card_of(project, "Silent")
    assert page.material is None
    assert page.findings == ()
    assert page.rows == []


def test_without_choices_the_first_evaluator_and_its_first_question_are_shown(project):
    page = card_now(project, CardChoices())
    assert (page.evaluator.label, page.question) == ("Judge", "Coherence")


def test_a_project_without_scores_has_no_card():
    page = card_now(make_project(protocol.SUMMEVAL), CardChoices())
    assert (page.evaluator, page.card, page.charts) == (None, None, [])


@pytest.mark.parametrize(
    "wrong", [{"evaluator": "0"}, {"question": "x"}, {"language": "xx"}, {"group": "x"}, {"labels": "x"}]
)
def test_a_choice_that_does_not_exist_is_refused(project, wrong):
    with pytest.raises(DomainError, match="expected one of"):
        card_now(project, CardChoices(**wrong))


class TestYesNoQuestions:
    @pytest.fixture
    def page(self):
        project = make_project(protocol.SEAHORSE)
        rater = make_rater(project)
        summaries = make_summaries(project, [f"article-{number}" for number in range(12)], ["a", "b"])
        rate_all(
            (summary, rater, {"comprehensibility": "yes" if number % 2 else "no"})
            for number, summary in enumerate(summaries)
        )
        scores = [0.9 if number % 2 else 0.2 for number in range(len(summaries))]
        scores[0] = 0.95
        given = dict(zip(summaries, scores, strict=True))
        score(make_setup(project, "Judge"), given, "comprehensibility")
        return card_now(project, CardChoices())

    def test_agreement_is_the_area_under_the_curve(self, page):
        pooled, _, systems = page.card.agreement
        assert (pooled.coefficient, systems.coefficient) == ("roc_auc", "spearman")
        assert pooled.estimate.value == pytest.approx(1 - 12 / 144)
        assert page.card.bounds.are_exact

    def test_yes_begins_between_the_scores_of_no_and_yes(self, page):
        assert page.card.threshold.value == 0.9
        assert page.card.threshold.confusion.false_yes == 1

    def test_one_rating_each_has_no_ceiling_and_no_test(self, page):
        assert page.card.agreement[0].ceiling.reason
        assert finding(page, "Passes").answer == NOT_TESTED
        assert (
            "one rater against the others"
            in row(page, "roc_auc, pooled, one rater against the others")["measure"]
        )
