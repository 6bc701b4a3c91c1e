"""Projects with ratings and scores, and researchers who read their pages; the broker of scoring's tests."""

import pickle

import numpy as np
import pytest

from annotation import protocol
from metaeval.live.background import BackgroundResults
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score
from tests.scoring.conftest import no_patience, sent  # noqa: F401 - fixtures here, too


@pytest.fixture
def compared(db):
    """Return thirty articles by four systems, rated 1 to 5, scored by two good evaluators and noise."""
    return make_compared(30)


@pytest.fixture
def compared_at_length(db):
    """Return the same of eighty articles, enough for intervals that hold at every look."""
    return make_compared(80)


def make_compared(n_articles):
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project)
    summaries = make_summaries(project, [f"a{n}" for n in range(n_articles)], [f"s{n}" for n in range(4)])
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, len(summaries))
    rate_all(
        (summary, rater, {"coherence": str(answer)})
        for summary, answer in zip(summaries, quality, strict=True)
    )
    noise = rng.normal(size=len(summaries))
    for label, values in {
        "Good": quality + 0.5 * noise,
        "Also good": quality + 0.5 * noise[::-1],
        "Noise": noise,
    }.items():
        score(make_setup(project, label), dict(zip(summaries, values.tolist(), strict=True)), "coherence")
    return project


@pytest.fixture
def rated_project(db):
    """Return six summaries rated by one rater each on a scale of 1 to 5, and scored by one evaluator."""
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project)
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    rate_all(
        (summary, rater, {"coherence": answer, "fluency": answer})
        for summary, answer in zip(summaries, "123455", strict=True)
    )
    score(make_setup(project, "ROUGE-1"), dict(zip(summaries, [1.0, 3, 2, 2, 4, 6], strict=True)))
    return project


@pytest.fixture
def rated_project_reader(client, rated_project):
    client.force_login(make_member(rated_project, "researcher"))
    return client


@pytest.fixture
def researcher(client, project):
    """Return the browser of a researcher of the module's project."""
    client.force_login(make_member(project, "researcher"))
    return client


@pytest.fixture(autouse=True)
def results_from_elsewhere(monkeypatch):
    """Pass each background result on as if another process of the web server had computed it."""
    ready_or_start = BackgroundResults.ready_or_start

    def passed_on(self, key, compute, *others, **named):
        assert " at 0x" not in repr(key), "an address in memory stands for something else in another process"
        return ready_or_start(self, key, lambda: pickle.loads(pickle.dumps(compute())), *others, **named)

    monkeypatch.setattr(BackgroundResults, "ready_or_start", passed_on)
