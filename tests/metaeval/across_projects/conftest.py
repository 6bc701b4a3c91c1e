"""Projects with the same evaluators, and a researcher who may see some of them."""

import numpy as np
import pytest

from annotation import protocol
from annotation.models import Membership
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score


def make_data_set(name, seed, questionnaire=protocol.SUMMEVAL):
    """Return a project of twelve articles by two systems, rated once and scored by two evaluators."""
    project = make_project(questionnaire, name=name, slug=name.lower())
    rater = make_rater(project)
    summaries = make_summaries(project, [f"a{n}" for n in range(12)], ["x", "y"])
    rng = np.random.default_rng(seed)
    question = questionnaire.questions[0]
    answers = [each for each in question.scale.choices if question.scale.number(each) is not None]
    quality = rng.integers(0, len(answers), len(summaries))
    rate_all(
        (summary, rater, {question.key: answers[place]})
        for summary, place in zip(summaries, quality.tolist(), strict=True)
    )
    for label, noise in {"Good": 1.0, "Noise": 50.0}.items():
        values = quality + noise * rng.normal(size=len(summaries))
        score(make_setup(project, label), dict(zip(summaries, values.tolist(), strict=True)))
    project.refresh_from_db()
    return project


@pytest.fixture
def data_sets(db):
    """Return two projects that ask the same questions."""
    return [make_data_set("News", 1), make_data_set("Stories", 2)]


@pytest.fixture
def secret(db):
    """Return a project that the reader is no member of."""
    return make_data_set("Secret", 3)


@pytest.fixture
def reader(client, data_sets):
    """Return the browser of a researcher of both."""
    user = make_member(data_sets[0], "researcher")
    Membership.objects.create(project=data_sets[1], user=user, role="researcher")
    client.force_login(user)
    return client
