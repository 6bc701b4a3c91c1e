"""A family of three evaluators, one of which has seen an article."""

import pytest

from annotation.models import Article
from scoring.families.following import family_of
from scoring.families.starting import family_of_setups
from scoring.models import EvaluatorSetup, SeenArticle
from tests.factories import make_member


@pytest.fixture
def researcher(compared):
    return make_member(compared, "researcher")


@pytest.fixture
def family(compared, researcher):
    """Members 2, 1 and 0 of kind seeds: Good, Also good (has seen article a0) and Noise."""
    setups = {setup.label: setup for setup in EvaluatorSetup.objects.filter(project=compared)}
    article = Article.objects.get(project=compared, external_id="a0")
    SeenArticle.objects.create(setup=setups["Also good"], article=article, role="example")
    compared.bump_revision()
    labelled = [
        (setups[label].pk, name) for label, name in (("Good", "2"), ("Also good", "1"), ("Noise", "0"))
    ]
    return family_of_setups(compared, researcher, "Luck", "seeds", labelled)


@pytest.fixture
def followed(compared, family):
    return family_of(compared, family.pk)
