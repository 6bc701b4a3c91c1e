"""ICE's published scores as an experiment, which reproduces Table 1 and Figure 2."""

import pytest

from metaeval.experiments.following import experiment_of
from metaeval.experiments.page import ExperimentChoices, whole_page
from metaeval.experiments.starting import experiment_of_setups
from scoring.models import Setup
from tests.factories import make_member
from tests.metaeval.comparison.test_report import ICE_TABLE_1
from tests.metaeval.rated_projects import DIMENSIONS, load_ice

pytestmark = pytest.mark.django_db
WITHOUT = {"interval": "none", "test": "none"}


@pytest.fixture
def followed(shared):
    """Return Jain et al.'s (2023) experiment of Table 1 and Figure 2, with two sampling methods."""
    project = load_ice(shared)
    keys = dict(Setup.objects.filter(project=project).values_list("label", "pk"))
    labelled = [(keys[f"ICE {name}"], name) for name in ("uniform", "stratified")]
    user = make_member(project, "researcher")
    return experiment_of(project, experiment_of_setups(project, user, "Table 1", "sampling", labelled).pk)


def test_members_reproduce_table_1(followed):
    project = followed.experiment.project
    for coefficient in ("spearman", "kendall_b"):
        page = whole_page(project, followed, ExperimentChoices(coefficient=coefficient, **WITHOUT))
        found = {
            (each.member, question.labels.key): each.figure.estimate
            for question in page.results.questions
            for each in question.figures
        }
        assert len(found) == 2 * len(DIMENSIONS)
        for (member, dimension), estimate in found.items():
            published = ICE_TABLE_1[f"ICE {member}", coefficient][DIMENSIONS.index(dimension)]
            assert estimate.value == pytest.approx(published, abs=6e-4)
            assert (estimate.n, estimate.articles) == (1536, 96)
    [chart] = page.charts
    assert all(f"{estimate.value:.3f}" in chart.svg for estimate in found.values())


@pytest.mark.thorough
def test_uniform_always_wins_on_consistency_and_rarely_elsewhere(followed):
    shares = {}
    for dimension in DIMENSIONS:
        choices = ExperimentChoices(question=dimension, **WITHOUT)
        wins = whole_page(followed.experiment.project, followed, choices).results.wins
        assert wins.names == ["uniform", "stratified"]
        shares[dimension] = wins.shares[0, 1]
    assert shares["consistency"] == 1
    assert all(share < 0.05 for dimension, share in shares.items() if dimension != "consistency")
