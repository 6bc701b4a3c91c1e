"""Values of the comparison, computed once per revision."""

import pytest

from annotation import protocol
from metaeval.comparison.point_values import KEPT_TABLES, point_values_of
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

CHOICES = ComparisonChoices()


@pytest.fixture
def project(db):
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    rater = make_rater(project)
    for summary, answer in zip(summaries, "123245", strict=True):
        rate(summary, rater, coherence=answer)
    score(make_setup(project, "Metric"), dict(zip(summaries, [1.0, 2, 3, 3, 4, 5], strict=True)), "coherence")
    return project


def test_values_are_reused_for_another_drawn_figure(project):
    snapshot = snapshot_of(project)
    points = point_values_of(snapshot, CHOICES)
    assert point_values_of(snapshot, ComparisonChoices(evaluator="1", question="coherence")) is points


def test_other_choices_are_computed_and_only_the_latest_are_kept(project):
    snapshot = snapshot_of(project)
    first = point_values_of(snapshot, CHOICES)
    for coefficient in ("pearson", "kendall_b", "kendall_c")[:KEPT_TABLES]:
        other = point_values_of(snapshot, ComparisonChoices(coefficient=coefficient))
        assert other.table.figures()[0].coefficient == coefficient
    assert point_values_of(snapshot, CHOICES) is not first


def test_a_new_snapshot_has_its_own_values(project):
    before = point_values_of(snapshot_of(project), CHOICES)
    rate(project.summaries.first(), make_rater(project), coherence="5")
    after = point_values_of(snapshot_of(project), CHOICES)
    assert after.table.figures()[0].estimate.value != before.table.figures()[0].estimate.value
