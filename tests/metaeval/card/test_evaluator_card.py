"""Evaluator cards of evaluators with known behaviour."""

import math
from dataclasses import replace

import numpy as np
import pytest

from annotation import protocol
from annotation.errors import DomainError
from metaeval.card import evaluator_card
from metaeval.card.findings import findings
from metaeval.card.material import COPYING, LENGTH
from metaeval.card.page import card_now
from metaeval.card.verdicts import NO, NOT_TESTED, NOTHING_FOUND, YES
from metaeval.live.choices import ComparisonChoices, PairChoices
from metaeval.stats.rows import Resampling
from scoring.models import Score, SeenArticle, Setup
from tests.factories import make_project, make_rater
from tests.metaeval.card_projects import ARTICLES, RATERS, SYSTEMS, make_card_project
from tests.metaeval.comparison_rows import comparison_rows
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score

N = ARTICLES * len(SYSTEMS)


pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch):
    monkeypatch.setattr(evaluator_card, "RESAMPLING", Resampling(60))


@pytest.fixture
def project():
    return make_card_project()


def card_of(project, label, **choices):
    setup = Setup.objects.get(project=project, label=label)
    return card_now(project, PairChoices(evaluator=str(setup.pk), **{"question": "coherence", **choices}))


def finding(page, beginning):
    (found,) = (each for each in page.findings if each.question.startswith(beginning))
    return found


def row(page, measure):
    (found,) = (each for each in page.rows if each["measure"] == measure)
    return found


class TestGoodJudge:
    @pytest.fixture
    def page(self, project):
        return card_of(project, "Judge")

    def test_agreement_equals_the_comparisons(self, project, page):
        only = (page.choices.evaluator,)
        for measured in page.card.agreement:
            choices = ComparisonChoices(
                level=measured.level,
                coefficient=measured.coefficient,
                interval="none",
                test="none",
                only=only,
            )
            (expected,) = (
                each
                for each in comparison_rows(project, choices, choices.method(is_live=False))
                if each["dimension"] == "coherence"
            )
            assert measured.estimate.value == expected["value"]
            assert measured.estimate.n == expected["n"]
        assert page.card.agreement[0].estimate.n == N

    def test_intervals_contain_the_values_and_the_ceiling_is_high(self, page):
        pooled, article_mean, _ = page.card.agreement
        for measured in (pooled, article_mean):
            interval = measured.estimate.interval
            assert interval.low <= measured.estimate.value <= interval.high
        assert 0.7 < pooled.ceiling.value < 1
        assert pooled.ceiling.n == N

    def test_findings_state_its_strengths(self, page):
        assert finding(page, "Ranks summaries").answer == YES
        assert finding(page, "Better than length").answer == YES
        assert finding(page, "Unaffected by length").answer == NOTHING_FOUND
        assert finding(page, "Scores every").answer == YES
        assert all(each.rule and each.said.endswith(".") for each in page.findings)

    def test_bias_towards_higher_scores_is_found(self, page):
        shift = page.card.level.shift
        labels, scores = page.material.rows.labels, page.material.rows.scores
        assert shift.bias == pytest.approx((scores - labels).mean() / 4)
        assert shift.bias_interval.low > 0.1
        assert "within the labels' scale" in page.card.level.rule

    def test_labels_are_split_at_the_middle_of_their_scale(self, page):
        labels = page.material.rows.labels
        threshold = page.card.threshold
        assert threshold.n == np.count_nonzero(labels != 3)
        assert threshold.yeses == np.count_nonzero(labels > 3)
        assert threshold.confusion.kappa.value > 0.5

    def test_the_alternative_annotator_test_uses_every_margin(self, page):
        assert [each.epsilon for each in page.card.alternative] == [0.2, 0.15, 0.1]
        assert [each.test.raters for each in page.card.alternative] == [RATERS] * 3
        verdicts = {each.verdict for each in page.card.alternative}
        found = finding(page, "Passes")
        assert found.answer == (NO if verdicts == {NO} else page.card.alternative[-1].verdict)
        assert "over shuffled scores." in found.said
        figure = page.card.alternative[0]
        name, constant = figure.trivial[0]
        assert row(page, "winning rate at ε 0.2")["text"] == figure.verdict
        assert row(page, f"winning rate at ε 0.2, {name}")["value"] == constant.winning_rate
        lead = row(page, f"lead over {name} at ε 0.2")
        assert (lead["value"], lead["low"]) == (constant.lead.value, constant.lead.interval.low)

    def test_every_row_has_a_value_or_a_reason(self, page):
        for each in page.rows:
            assert (each["value"] is None) == ("reason" in each or each["section"] == "finding"), each[
                "measure"
            ]
            assert not (isinstance(each["value"], float) and math.isnan(each["value"]))
            assert each["definition"] or "reason" in each or each["section"] == "coverage", each["measure"]
        assert row(page, "Cohen's kappa, out of fold")["low"] is not None
        assert row(page, "seconds per 1,000 summaries")["reason"]


class TestLengthEvaluator:
    @pytest.fixture
    def page(self, project):
        return card_of(project, "Longest")

    def test_length_bias_is_found(self, page):
        assert page.card.traits[LENGTH].value == pytest.approx(1)
        favours = finding(page, "Unaffected by length")
        assert favours.answer == NO
        assert "longer" in favours.said

    def test_it_does_not_beat_the_length_baseline(self, page):
        (length, _copying) = page.card.baselines
        assert length.estimate.value == pytest.approx(page.card.agreement[0].estimate.value)
        assert finding(page, "Better than length").answer != YES

    def test_general_scores_have_no_bias_on_the_labels_scale(self, page):
        assert page.card.level is None
        assert "general" in page.card.why_no_level
        assert "not applicable" in row(page, "bias")["reason"]

    def test_copying_bias_is_undefined_without_copied_summaries(self, page):
        assert page.card.traits[COPYING].reason
        assert finding(page, "Unaffected by copying").answer == NOT_TESTED
        assert page.card.baselines[1].reason


def test_a_system_scored_unfairly_is_marked(project):
    rows = Score.objects.filter(setup__label="Judge", summary__system__name="b")
    for each in rows:
        each.value = 1.0
    Score.objects.bulk_update(rows, ["value"])
    project.bump_revision()
    page = card_of(project, "Judge")
    assert page.card.marked_systems[-1][0] == "b"
    assert page.card.marked_systems[-1][1].value < -0.5
    assert "largest deviation is b" in finding(page, "Fair to").said


def test_a_lower_is_better_evaluator_gets_the_same_card_as_its_negation(project):
    page = card_of(project, "Longest")
    mirrored = evaluator_card.evaluator_card(
        replace(
            page.material,
            evaluator=replace(page.evaluator, higher_is_better=False),
            rows=page.material.rows.with_scores(-page.material.rows.scores),
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


def test_missing_scores_are_counted_by_reason_and_bound_the_value(project):
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
    assert finding(page, "Scores every").answer == NO
    assert row(page, "labelled and scored")["left_out"] == {"reply cut": 10}


def test_only_articles_seen_by_the_cards_evaluator_are_left_out(project):
    articles = list(project.articles.order_by("pk")[:3])
    for label, article in zip(("Judge", "Judge", "Longest"), articles, strict=True):
        setup = Setup.objects.get(project=project, label=label)
        SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
    project.bump_revision()
    page = card_of(project, "Judge")
    assert page.material.comparison.seen == {"articles seen by Judge": 2}
    assert page.material.n_labelled == N - 2 * len(SYSTEMS)
    assert row(page, "summaries")["left_out"] == {"articles seen by Judge": 2}


def test_labels_seen_on_another_question_do_not_count(project):
    setup, article = Setup.objects.get(project=project, label="Judge"), project.articles.first()
    SeenArticle.objects.create(setup=setup, article=article, dimension="another", role="in-context example")
    project.bump_revision()
    assert card_of(project, "Judge").material.n_labelled == N


def test_an_evaluator_without_scores_on_the_question_has_an_empty_card(project):
    page = card_of(project, "Silent")
    assert page.material is None
    assert page.findings == ()
    assert page.rows == ()


def test_the_card_defaults_to_the_first_evaluator_and_question(project):
    page = card_now(project, PairChoices())
    assert (page.evaluator.label, page.question) == ("Judge", "Coherence")


def test_a_project_without_scores_has_no_card():
    page = card_now(make_project(protocol.SUMMEVAL), PairChoices())
    assert (page.evaluator, page.card, page.charts) == (None, None, [])


@pytest.mark.parametrize(
    "wrong", [{"evaluator": "0"}, {"question": "x"}, {"language": "xx"}, {"group": "x"}, {"labels": "x"}]
)
def test_an_unknown_choice_is_refused(project, wrong):
    with pytest.raises(DomainError, match="expected one of"):
        card_now(project, PairChoices(**wrong))


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
        return card_now(project, PairChoices())

    def test_agreement_is_roc_auc(self, page):
        pooled, _, systems = page.card.agreement
        assert (pooled.coefficient, systems.coefficient) == ("roc_auc", "spearman")
        assert pooled.estimate.value == pytest.approx(1 - 12 / 144)
        assert page.card.bounds.are_exact

    def test_the_threshold_separates_scores_of_no_and_yes(self, page):
        assert page.card.threshold.value == 0.9
        assert page.card.threshold.confusion.false_yes == 1

    def test_single_ratings_have_no_ceiling_and_no_alternative_annotator_test(self, page):
        assert page.card.agreement[0].ceiling.reason
        assert finding(page, "Passes").answer == NOT_TESTED
        assert (
            "one rater against the others"
            in row(page, "roc_auc, pooled, one rater against the others")["measure"]
        )
