"""Human labels: which ratings count and how they are combined."""

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation import protocol
from annotation.labels import human_labels, unit_label
from annotation.models import (
    Answer,
    GoldAnswer,
    Project,
    QualificationRound,
    Question,
    Rater,
    Rating,
    Summary,
)
from annotation.protocol import ONE_TO_FIVE, YES_NO_UNSURE, Scale, ScaleKind
from tests.factories import make_gold, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


def question_of(project: Project, key: str) -> Question:
    return Question.objects.get(questionnaire=project.questionnaire, key=key)


def rate(summary: Summary, rater: Rater, key: str, value: str, **fields: object) -> Rating:
    now = timezone.now()
    rating = Rating.objects.create(
        summary=summary, rater=rater, created_at=now, **{"completed_at": now, **fields}
    )
    Answer.objects.create(
        rating=rating, question=question_of(summary.project, key), value=value, created_at=now
    )
    return rating


def label_of(summary: Summary, key: str) -> float | None:
    return human_labels(summary.project, question_of(summary.project, key)).get(summary.pk)


def test_a_label_is_the_mean_over_raters_without_unsure():
    project = make_project()
    summary = make_summary(project)
    for value in ("yes", "yes", "no", "unsure"):
        rate(summary, make_rater(project), "attribution", value)
    assert label_of(summary, "attribution") == pytest.approx(2 / 3)


def test_a_summary_with_only_unsure_answers_has_no_label():
    project = make_project()
    summary = make_summary(project)
    rate(summary, make_rater(project), "attribution", "unsure")
    assert label_of(summary, "attribution") is None


def test_a_label_of_points_keeps_their_scale():
    project = make_project(protocol.SUMMEVAL)
    summary = make_summary(project)
    for value in ("2", "5"):
        rate(summary, make_rater(project), "coherence", value)
    assert label_of(summary, "coherence") == 3.5


def test_the_order_of_ratings_does_not_change_a_label():
    scale = Scale(ScaleKind.INTERVAL)
    question = protocol.Question("q", "q", "Q", "?", 1, scale)
    project = make_project(protocol.Questionnaire("interval", "Interval", ("All",), (question,)))
    numbers = ("0.1", "0.7", "1e16")
    one, other = make_summary(project), make_summary(project)
    for summary, values in ((one, numbers), (other, numbers[::-1])):
        for value in values:
            rate(summary, make_rater(project), "q", value)
    assert label_of(one, "q") == label_of(other, "q") == (0.1 + 0.7 + 1e16) / 3


def test_ratings_of_suspended_raters_count_and_of_removed_raters_do_not():
    project = make_project()
    summary = make_summary(project)
    rate(summary, make_rater(project, status=Rater.Status.REMOVED), "grammar", "no")
    rate(summary, make_rater(project, status=Rater.Status.SUSPENDED), "grammar", "yes")
    assert label_of(summary, "grammar") == 1.0


def test_unfinished_ratings_do_not_count():
    project = make_project()
    summary = make_summary(project)
    rate(summary, make_rater(project), "grammar", "no", completed_at=None)
    assert label_of(summary, "grammar") is None


def test_ratings_of_gold_rounds_and_gold_answers_do_not_count():
    project = make_project()
    summary = make_gold(project).summary
    rater = make_rater(project)
    gold_round = QualificationRound.objects.create(rater=rater, language="en", number=1)
    rate(summary, rater, "grammar", "no", round=gold_round)
    assert GoldAnswer.objects.filter(gold__summary=summary).exists()
    assert label_of(summary, "grammar") is None


def test_only_the_latest_revision_counts():
    project = make_project()
    summary = make_summary(project)
    rating = rate(summary, make_rater(project), "grammar", "no")
    rating.answers.update(is_current=False)
    Answer.objects.create(
        rating=rating,
        question=question_of(project, "grammar"),
        value="yes",
        revision=2,
        created_at=timezone.now(),
    )
    assert label_of(summary, "grammar") == 1.0


def test_labels_of_other_projects_and_questions_are_separate():
    project, other = make_project(), make_project()
    summary, elsewhere = make_summary(project), make_summary(other)
    rate(summary, make_rater(project), "grammar", "yes")
    rate(elsewhere, make_rater(other), "grammar", "no")
    assert human_labels(project, question_of(project, "grammar")) == {summary.pk: 1.0}
    assert human_labels(project, question_of(project, "attribution")) == {}


def test_the_number_of_queries_does_not_grow_with_the_ratings(django_assert_num_queries):
    project = make_project()
    for _ in range(5):
        rate(make_summary(project), make_rater(project), "grammar", "yes")
    question = question_of(project, "grammar")
    with django_assert_num_queries(1):
        assert len(human_labels(project, question)) == 5


@given(st.sampled_from([YES_NO_UNSURE, ONE_TO_FIVE, Scale(ScaleKind.INTERVAL, low=-2, high=7)]), st.data())
def test_a_unit_label_is_from_0_to_1_and_keeps_the_order(scale, data):
    low, high = (0, 1) if scale.kind == ScaleKind.NOMINAL else (scale.low, scale.high)
    labels = st.floats(low, high)
    worse, better = sorted([data.draw(labels), data.draw(labels)])
    assert 0 <= unit_label(scale, worse) <= unit_label(scale, better) <= 1
    assert (unit_label(scale, low), unit_label(scale, high)) == (0, 1)


def test_an_unbounded_scale_has_no_unit_label():
    assert unit_label(Scale(ScaleKind.INTERVAL), 3.0) is None
