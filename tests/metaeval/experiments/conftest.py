"""An experiment with three evaluators, one of which has seen an article; a project to start one in."""

import pytest

from annotation.models import Article
from metaeval.experiments.following import experiment_of
from metaeval.experiments.starting import experiment_of_setups
from scoring.models import SeenArticle, Setup
from tests.factories import make_member, make_project, make_summary


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


@pytest.fixture
def project():
    """Return a project with three summaries."""
    project = make_project()
    for _ in range(3):
        make_summary(project)
    return project


@pytest.fixture
def starter(project):
    """Return a researcher who may start runs in `project`."""
    return make_member(project, "researcher")
