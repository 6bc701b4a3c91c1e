"""The values of the page are computed once for a revision, whichever figure is drawn."""

import pytest

from annotation import protocol
from metaeval.choices import MetaevalChoices
from metaeval.points import KEPT_TABLES, points_of
from metaeval.snapshot import snapshot_of
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

CHOICES = MetaevalChoices()


@pytest.fixture
def project(db):
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    rater = make_rater(project)
    for summary, answer in zip(summaries, "123245", strict=True):
        rate(summary, rater, coherence=answer)
    score(make_setup(project, "Metric"), dict(zip(summaries, [1.0, 2, 3, 3, 4, 5], strict=True)), "coherence")
    return project


def test_the_figure_that_is_drawn_makes_no_difference(project):
    snapshot = snapshot_of(project)
    points = points_of(snapshot, CHOICES)
    assert points_of(snapshot, MetaevalChoices(evaluator="1", question="coherence")) is points


def test_another_choice_is_computed_and_only_the_latest_are_kept(project):
    snapshot = snapshot_of(project)
    first = points_of(snapshot, CHOICES)
    for coefficient in ("pearson", "kendall_b", "kendall_c")[:KEPT_TABLES]:
        other = points_of(snapshot, MetaevalChoices(coefficient=coefficient))
        assert other.table.figures()[0].coefficient == coefficient
    assert points_of(snapshot, CHOICES) is not first


def test_another_snapshot_has_points_of_its_own(project):
    before = points_of(snapshot_of(project), CHOICES)
    rate(project.summaries.first(), make_rater(project), coherence="5")
    after = points_of(snapshot_of(project), CHOICES)
    assert after.table.figures()[0].estimate.value != before.table.figures()[0].estimate.value
