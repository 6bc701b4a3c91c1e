"""Intervals of what a trained model reaches on its validation examples."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

RESAMPLES = 1000
FEWEST_ARTICLES = 10
"""The fewest articles for intervals: draws from fewer differ too little, as in meta-evaluation."""
MOST_UNDEFINED = 0.05
"""Share of resamples in which a measure may be undefined, such as an AUC without any yes."""
ROUNDING = 1e-12


def validation_intervals(
    measures: Callable[[Sequence[Any], np.ndarray], Mapping[str, float]],
    examples: Sequence[Any],
    outputs: np.ndarray,
) -> dict[str, tuple[float, float]]:
    """Return the 95% percentile interval of each measure in resamples of articles, always the same ones.

    A measure has none if there are too few articles, if it is undefined in too many resamples, or if it is
    the same in all: an interval without width would claim that no other value is possible.

    Parameters
    ----------
    examples : each with its `article`; the examples of one article are drawn together.
    outputs : [examples, ...] of the learner's module.
    measures : a learner's.
    """
    places = defaultdict(list)
    for place, example in enumerate(examples):
        places[example.article].append(place)
    if len(places) < FEWEST_ARTICLES:
        return {}
    articles = list(places.values())
    drawn: dict[str, list[float]] = defaultdict(list)
    for draw in np.random.default_rng(0).integers(len(articles), size=(RESAMPLES, len(articles))):
        chosen = [place for article in draw for place in articles[article]]
        with np.errstate(divide="ignore", invalid="ignore"):
            found = measures([examples[place] for place in chosen], outputs[chosen])
        for name, value in found.items():
            if np.isfinite(value):
                drawn[name].append(value)
    return {
        name: (float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975)))
        for name, values in drawn.items()
        if len(values) >= (1 - MOST_UNDEFINED) * RESAMPLES and np.ptp(values) > ROUNDING
    }
