"""The figures of a learning curve: which models, evaluators and summaries they stand on."""

import numpy as np
import pytest

from annotation.errors import DomainError
from annotation.models import Article, Rating
from metaeval.learning_curves.following import curve_of
from metaeval.learning_curves.material import CurveChoices
from metaeval.learning_curves.page import whole_page
from metaeval.learning_curves.report import ComparatorFigure
from metaeval.stats.result import Estimate, Interval, Result
from scoring.evaluators.length import Length
from scoring.models import CurveModel, Run, SeenArticle, Setup
from tests.metaeval.learning_curves.conftest import N_SYSTEMS, TESTED

pytestmark = pytest.mark.django_db


def page_of(project, curve, **choices):
    return whole_page(project, curve_of(project, curve.pk), CurveChoices(**choices))


def only(project, *labels):
    return tuple(
        str(pk) for pk in Setup.objects.filter(project=project, label__in=labels).values_list("pk", flat=True)
    )


def test_shares_stand_beside_evaluators_that_scored_every_test_article_and_one_rater(project, curve):
    [figures] = page_of(project, curve).figures
    assert [(each.share, each.examples, len(each.models)) for each in figures.shares] == [
        ("10%", 20, 2),
        ("50%", 100, 2),
        ("100%", 200, 2),
    ]
    assert [each.name for each in figures.comparators] == ["Good", "Poor", "One rater"]
    assert (figures.n, figures.articles) == (TESTED * N_SYSTEMS, TESTED)
    values = [each.estimate.value for each in figures.shares]
    assert values == sorted(values)


def test_sentences_say_from_how_many_answers_on_the_models_are_better(project, curve):
    [(title, sentences)] = page_of(project, curve).sentences
    assert title == "Coherence"
    assert sentences[1] == "Compared with Poor: better from 100 answers on (50%)."
    assert sentences[0] == "Compared with Good: not shown to be better with 200 answers."


def test_one_that_has_scored_some_articles_can_be_picked_and_all_stand_on_what_it_scored(project, curve):
    [figures] = page_of(project, curve, only=only(project, "Partial")).figures
    assert [each.name for each in figures.comparators] == ["Partial", "One rater"]
    assert figures.n == 30
    assert figures.left_out["summaries without a score: not scored by every compared evaluator"] == 60


def test_test_articles_that_a_comparator_has_seen_are_left_out_for_all(project, curve):
    setup = Setup.objects.get(label="Poor")
    seen = Article.objects.get(external_id="a03")
    SeenArticle.objects.create(setup=setup, article=seen, role="example")
    project.bump_revision()
    page = page_of(project, curve)
    assert page.seen == {"articles seen by Poor": 1}  # Good has seen an article outside of the test part
    assert page.figures[0].articles == TESTED - 1


def test_models_of_learning_curves_are_no_comparators(project, curve):
    offered = page_of(project, curve).material.offered
    assert [each.label for each in offered] == ["Good", "Partial", "Poor"]
    with pytest.raises(DomainError, match="evaluator"):
        page_of(project, curve, only=(str(CurveModel.objects.first().setup_id),))


def test_a_model_counts_once_it_has_scored(project, curve):
    Run.objects.filter(setup__curve_models__seed=1, setup__curve_models__share=1).update(status="running")
    Run.objects.filter(setup__curve_models__share=0.1).update(status="running")
    [figures] = page_of(project, curve).figures
    assert [(each.share, len(each.models)) for each in figures.shares] == [("50%", 2), ("100%", 1)]


def test_lower_is_better_is_turned_and_said(project, curve, monkeypatch):
    monkeypatch.setattr(Length, "higher_is_better", False)
    [figures] = page_of(project, curve, only=only(project, "Good")).figures
    assert figures.comparators[0].name == "Good (lower is better: scores negated)"
    assert figures.comparators[0].estimate.value < 0


def test_without_labels_there_are_no_figures(project, curve):
    Rating.objects.all().delete()
    project.bump_revision()
    page = page_of(project, curve)
    assert (page.figures, page.material.n_labelled) == ([], 0)


def comparator(*lows: float) -> ComparatorFigure:
    estimate = Estimate(value=0.5, n=1, articles=1, systems=1, definition="")
    return ComparatorFigure(
        "X",
        estimate,
        [Result(value=low + 1, definition="", interval=Interval(low, low + 2, "")) for low in lows],
    )


@pytest.mark.parametrize(
    ("lows", "expected"),
    [((-0.1, 0.1, 0.2), 1), ((0.1, -0.1, 0.2), 2), ((0.1, 0.2, -0.1), None), ((0.1, 0.1), 0), ((0.0,), None)],
)
def test_better_means_at_this_share_and_at_every_larger_one(lows, expected):
    assert comparator(*lows).better_from == expected


def test_rows_are_the_figures(project, curve):
    [figures] = page_of(project, curve).figures
    rows = figures.rows()
    assert [row["name"] for row in rows] == [
        "10% (20)",
        "50% (100)",
        "100% (200)",
        "Good",
        "Poor",
        "One rater",
    ]
    assert rows[0]["value"] == figures.shares[0].estimate.value
    assert len(figures.difference_rows()) == 9
    models = figures.model_rows()
    assert np.mean([row["value"] for row in models[:2]]) == pytest.approx(rows[0]["value"])
