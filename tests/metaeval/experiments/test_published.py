"""ICE's published scores as an experiment: Table 1's rows side by side, and who wins in subsamples."""

import pytest

from metaeval.experiments.choices import ExperimentChoices
from metaeval.experiments.page import whole_page
from scoring.families.following import family_of
from scoring.families.starting import family_of_setups
from scoring.models import EvaluatorSetup
from tests.factories import make_member
from tests.metaeval.rated_projects import DIMENSIONS, load_ice
from tests.metaeval.test_metaeval_report import ICE_TABLE_1

pytestmark = pytest.mark.django_db
WITHOUT = {"interval": "none", "test": "none"}


@pytest.fixture
def followed(shared):
    """The family of the paper's two ways to draw examples (Jain et al. 2023, Table 1 and Figure 2)."""
    project = load_ice(shared)
    keys = dict(EvaluatorSetup.objects.filter(project=project).values_list("label", "pk"))
    labelled = [(keys[f"ICE {name}"], name) for name in ("uniform", "stratified")]
    user = make_member(project, "researcher")
    return family_of(project, family_of_setups(project, user, "Table 1", "sampling", labelled).pk)


def test_table_1_stands_side_by_side(followed):
    project = followed.family.project
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


def test_uniform_wins_every_draw_on_consistency_and_stratified_most_on_the_others(followed):
    shares = {}
    for dimension in DIMENSIONS:
        choices = ExperimentChoices(question=dimension, **WITHOUT)
        wins = whole_page(followed.family.project, followed, choices).results.wins
        assert wins.names == ["uniform", "stratified"]
        shares[dimension] = wins.shares[0, 1]
    assert shares["consistency"] == 1
    assert all(share < 0.05 for dimension, share in shares.items() if dimension != "consistency")
