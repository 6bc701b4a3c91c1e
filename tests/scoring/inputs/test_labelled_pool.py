"""The labels that evaluators may learn from."""

import pytest

from annotation.protocol import Question, Questionnaire, Scale, ScaleKind
from scoring.inputs.labelled_pool import pool_labels
from tests.factories import make_project, make_summary
from tests.scoring.runs.test_planning import rate

pytestmark = pytest.mark.django_db


def labels_on(scale, *values):
    question = Question("focus", "focus", "Focus", "Focus?", 1, scale, needs_article=True)
    project = make_project(Questionnaire(scale.kind, "Q", ("Against the article",), (question,)))
    for value in values:
        rate(make_summary(project), focus=value)
    return [labels["focus"] for labels in pool_labels(project).values()]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["0.33", "1"], [0.33, 1.0]),
        (["0", "0.5"], [0.0, 0.5]),
        (["0.33", "1.01"], []),
        (["-0.1", "1"], []),
        (["1", "1"], []),
        ([], []),
    ],
)
def test_labels_on_an_unbounded_scale_count_if_they_differ_within_0_and_1(values, labels):
    assert labels_on(Scale(ScaleKind.INTERVAL), *values) == pytest.approx(labels)


def test_labels_on_a_bounded_scale_are_mapped_to_0_and_1():
    assert labels_on(Scale(ScaleKind.INTERVAL, low=0, high=2), "0.5", "0.5") == [0.25, 0.25]
    assert labels_on(Scale(ScaleKind.ORDINAL, low=1, high=5), "1", "2") == [0.0, 0.25]
