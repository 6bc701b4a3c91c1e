"""Made-up and golden data for the tests of significance."""

import json
from pathlib import Path

import numpy as np


def random_case(seed: int, *, articles: int = 4, systems: int = 4, evaluators: int = 2, yes_no: bool = False):
    """Make labels, scores, articles and systems with ties, gaps and duplicates."""
    rng = np.random.default_rng(seed)
    article = np.append(np.repeat(np.arange(articles), systems), 0)
    system = np.append(np.tile(np.arange(systems), articles), 1)
    size = len(article)
    labels = rng.choice([0.0, 1.0] if yes_no else [1.0, 2.0, 3.0, 4.0], size)
    scores = rng.integers(0, 5, (evaluators, size)).astype(float)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    labels[rng.random(size) < 0.05] = np.nan
    shuffled = rng.permutation(size)
    return labels[shuffled], scores[:, shuffled], article[shuffled], system[shuffled]


def golden(shared: Path):
    """Return the golden file and a function that returns the rows of named matrices."""
    cases = json.loads((shared / "golden" / "metaeval.json").read_text())

    def arguments(case: dict[str, str]):
        labels, *scores = (np.array(cases["matrices"][case[name]], dtype=float) for name in "zxy")
        articles, systems = np.indices(labels.shape)
        return labels.ravel(), np.array(scores).reshape(2, -1), articles.ravel(), systems.ravel()

    return cases, arguments
