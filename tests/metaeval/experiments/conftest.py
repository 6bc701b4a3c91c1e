"""An experiment with three evaluators, one of which has seen an article."""

import pytest

from annotation.models import Article
from scoring.experiments.following import experiment_of
from scoring.experiments.starting import experiment_of_setups
from scoring.models import SeenArticle, Setup
from tests.factories import make_member


@pytest.fixture
def researcher(compared):
    return make_member(compared, "researcher")


@pytest.fixture
def experiment(compared, researcher):
    """Return a seeds experiment: 2 is Good, 1 is Also good, which has seen article a0, and 0 is Noise."""
    setups = {setup.label: setup for setup in Setup.objects.filter(project=compared)}
    article = Article.objects.get(project=compared, external_id="a0")
    SeenArticle.objects.create(setup=setups["Also good"], article=article, role="example")
    compared.bump_revision()
    labelled = [
        (setups[label].pk, name) for label, name in (("Good", "2"), ("Also good", "1"), ("Noise", "0"))
    ]
    return experiment_of_setups(compared, researcher, "Luck", "seeds", labelled)


@pytest.fixture
def followed(compared, experiment):
    return experiment_of(compared, experiment.pk)
