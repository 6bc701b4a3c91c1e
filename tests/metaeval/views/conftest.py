"""A small project with ratings and scores, and a researcher who reads its pages."""

import pytest

from annotation import protocol
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score


@pytest.fixture
def project(db):
    """Six summaries rated by one rater each on a scale of 1 to 5, and scored by one evaluator."""
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project)
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    for summary, answer in zip(summaries, "123455", strict=True):
        rate(summary, rater, coherence=answer, fluency=answer)
    score(make_setup(project, "ROUGE-1"), dict(zip(summaries, [1.0, 3, 2, 2, 4, 6], strict=True)))
    return project


@pytest.fixture
def researcher(client, project):
    client.force_login(make_member(project, "researcher"))
    return client
