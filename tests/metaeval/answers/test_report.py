"""Counts, systems' means by language, and correlations between questions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from annotation import protocol
from annotation.models import Article, Rater
from metaeval.answers.report import (
    COMPLETE,
    answer_correlations,
    collected,
    question_correlations,
    system_means,
)
from metaeval.snapshot.arrays import (
    ALL,
    HumanRatings,
    QuestionRatings,
    answer_codes,
    answers_as_numbers,
)
from metaeval.snapshot.label_rules import labels_by
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_summaries, rate

YES = {"comprehensibility": "yes", "repetition": "yes"}
NO = {"comprehensibility": "no", "repetition": "no"}


@pytest.fixture
def project(db):
    """Return two German articles without a dataset and two Turkish ones of mlsum, by systems a and b."""
    project = make_project(protocol.SEAHORSE)
    summaries = make_summaries(project, ["d1", "d2", "t1", "t2"], ["a", "b"])
    Article.objects.filter(project=project, external_id__startswith="d").update(language="de")
    Article.objects.filter(project=project, external_id__startswith="t").update(
        language="tr", dataset="mlsum"
    )
    first, second = make_rater(project), make_rater(project)
    for summary, answers in zip(summaries, (YES, NO, YES, YES, NO, YES), strict=False):
        rate(summary, first, **answers)
    rate(summaries[0], second, **NO)
    rate(summaries[6], second, comprehensibility="no", repetition="yes")
    return project


def means_of(project, **chosen):
    snapshot = snapshot_of(project)
    summaries = snapshot.summaries
    groups = {ALL: np.ones(len(summaries), bool)}
    groups |= {each: summaries.in_language(each) for each in summaries.language_names}
    found = system_means(summaries, snapshot.labels()[0], groups, **chosen)
    return {(each.group, each.system): each for each in found}


def test_counts_are_by_language_and_dataset_with_a_total(project):
    snapshot = snapshot_of(project)
    german, turkish, everything = collected(snapshot.summaries, snapshot.human)
    assert (german.language, german.dataset, german.place) == ("de", "", "de")
    assert german.counts == {"articles": 2, "summaries": 4, "rated": 4, "rated_twice": 1, "ratings": 5}
    assert (turkish.language, turkish.dataset, turkish.place) == ("tr", "mlsum", "tr mlsum")
    assert turkish.counts == {"articles": 2, "summaries": 4, "rated": 3, "rated_twice": 0, "ratings": 3}
    assert everything.counts == {what: count + turkish.counts[what] for what, count in german.counts.items()}


def test_removed_raters_do_not_count(project):
    last = Rater.objects.filter(project=project).order_by("pk").last()
    Rater.objects.filter(pk=last.pk).update(status=Rater.Status.REMOVED)
    project.bump_revision()
    snapshot = snapshot_of(project)
    assert collected(snapshot.summaries, snapshot.human)[-1].counts["ratings"] == 6


def test_systems_have_means_by_language(project):
    found = means_of(project)
    assert found["de", "a"].estimate.value == pytest.approx((0.5 + 1) / 2)
    assert found["de", "b"].estimate.value == pytest.approx(0.5)
    assert found["tr", "a"].estimate.value == pytest.approx(0.0)
    assert found["tr", "b"].estimate.value == pytest.approx(1.0)
    assert found[ALL, "a"].estimate.labelled == 4


def test_only_articles_with_all_systems_can_count(project):
    found = means_of(project, articles=COMPLETE)
    assert found["tr", "a"].estimate.labelled == found["tr", "b"].estimate.labelled == 1
    assert sum(found["tr", "a"].left_out.values()) == 1
    assert found["de", "a"].left_out == {}
    assert found["de", "a"].estimate.labelled == 2


def test_questions_correlate_over_summaries_with_both_labels(project):
    snapshot = snapshot_of(project)
    labels = snapshot.labels()
    everything = np.ones(len(snapshot.summaries), bool)
    found = {
        (each.question, each.other): each for each in question_correlations(labels, "pearson", everything)
    }
    assert len(found) == 15
    both = found["comprehensibility", "repetition"]
    first, second = (labels[place].values[:7] for place in (0, 1))
    assert both.n == 7
    assert both.result.value == pytest.approx(np.corrcoef(first, second)[0, 1])
    missing = found["comprehensibility", "grammar"]
    assert math.isnan(missing.result.value)
    assert missing.result.reason == "fewer than two summaries with both labels"


def test_answers_correlate_over_the_ratings_that_have_both(project):
    snapshot = snapshot_of(project)
    everything = np.ones(len(snapshot.summaries), bool)
    found = {
        (each.question, each.other): each
        for each in answer_correlations(snapshot.human, snapshot.labels(), "pearson", everything)
    }
    both = found["comprehensibility", "repetition"]
    sheets = [(1, 1), (0, 0), (1, 1), (1, 1), (0, 0), (1, 1), (0, 0), (0, 1)]
    assert both.n == len(sheets)
    assert both.result.value == pytest.approx(stats.pearsonr(*zip(*sheets, strict=True)).statistic)
    assert found["comprehensibility", "grammar"].result.reason == "fewer than two ratings with both answers"


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("yn-"), st.sampled_from("yn-")), max_size=20))
def test_answers_of_one_rater_per_summary_correlate_like_labels(sheets):
    sheets = list({summary: sheet for summary, *sheet in sheets}.items())
    words = {"y": "yes", "n": "no", "-": "unsure"}
    asked = protocol.SEAHORSE.questions[:2]
    ratings = []
    for place, question in enumerate(asked):
        values, answers = answer_codes(
            question.scale, answers_as_numbers(question.scale, [words[sheet[place]] for _, sheet in sheets])
        )
        summaries = np.array([summary for summary, _ in sheets], dtype=np.int64)
        ratings.append(QuestionRatings(question, values, summaries, np.zeros_like(summaries), answers))
    human = HumanRatings(tuple(ratings), ("",), "ratings", "Wording.")
    labels = [labels_by("mean", human, each, 4) for each in ratings]
    (of_answers,) = answer_correlations(human, labels, "pearson", np.ones(4, bool))
    (of_labels,) = question_correlations(labels, "pearson", np.ones(4, bool))
    assert of_answers.n == of_labels.n
    assert of_answers.result.value == pytest.approx(of_labels.result.value, nan_ok=True)


def test_equal_labels_make_a_correlation_undefined_by_name(project):
    snapshot = snapshot_of(project)
    chosen = np.arange(len(snapshot.summaries)) == 2
    chosen[3] = True
    first = question_correlations(snapshot.labels(), "kendall_b", chosen)[0]
    assert first.result.reason == f"all labels of {snapshot.labels()[0].title} are equal"
