"""Projects that several tests of the meta-evaluation need."""

import numpy as np
import pytest

from annotation import protocol
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score


@pytest.fixture
def compared(db):
    """Thirty articles by four systems, rated 1 to 5, scored by two good evaluators and by noise."""
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project)
    summaries = make_summaries(project, [f"a{n}" for n in range(30)], [f"s{n}" for n in range(4)])
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
