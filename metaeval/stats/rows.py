"""The summaries a statistic is computed from, one row each, and how to resample them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from metaeval.stats.arrays import (
    Bools,
    Floats,
    Ints,
    code_vector,
    number_array,
    number_vector,
    refuse_unequal_lengths,
)


@dataclass(frozen=True, eq=False)
class Rows:
    """Human labels and evaluators' scores of n summaries; arrays are (n,), in any order.

    Raises ValueError, naming what is wrong, for unequal lengths, text or infinite numbers, and codes that are
    not whole numbers.
    """

    labels: Floats
    """Human labels in the unit of their scale; nan (or None) = none."""
    scores: Floats
    """An evaluator's scores in a unit of its own; nan (or None) = none. (evaluators, n) for statistics of
    several evaluators."""
    articles: Ints
    """Whole-number codes, equal for summaries of the same article; negative = not known."""
    systems: Ints
    """Whole-number codes, equal for summaries by the same system; negative = not known."""
    yes_no: bool = False
    """True if the labels are means over raters of Yes = 1 and No = 0."""

    def __post_init__(self) -> None:
        checked = {
            "labels": number_vector("labels", self.labels),
            "scores": number_array("scores", self.scores),
            "articles": code_vector("articles", self.articles),
            "systems": code_vector("systems", self.systems),
        }
        if checked["scores"].ndim not in (1, 2):
            raise ValueError(
                f"scores must be (n,) or (evaluators, n), not of shape {checked['scores'].shape}"
            )
        refuse_unequal_lengths(**(checked | {"scores": checked["scores"].T}))
        for name, array in checked.items():
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, chosen: Bools | Ints) -> "Rows":
        """Return the rows chosen by a mask (n,) or by places."""
        return Rows(
            self.labels[chosen],
            self.scores[..., chosen],
            self.articles[chosen],
            self.systems[chosen],
            self.yes_no,
        )

    def with_scores(self, scores: Floats) -> "Rows":
        """Return the same summaries with other scores."""
        return replace(self, scores=scores)

    @cached_property
    def each(self) -> list["Rows"]:
        """The rows of each evaluator in turn. Raises ValueError for rows of one evaluator."""
        if self.scores.ndim != 2:
            raise ValueError(f"scores must be (evaluators, n), not of shape {self.scores.shape}")
        return [self.with_scores(scores) for scores in self.scores]

    @cached_property
    def own_articles(self) -> Ints:
        """The articles, (n,), with a new code for each summary whose article is not known."""
        new = self.articles.max(initial=0) + 1 + np.arange(len(self))
        return np.where(self.articles < 0, new, self.articles)


@dataclass(frozen=True)
class Resampling:
    """The number of resamples and the seed. Equal values give equal draws.

    Raises ValueError for fewer than one resample.
    """

    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise ValueError(f"resamples is {self.resamples}: at least one is needed")

    def __str__(self) -> str:
        return f"{self.resamples:,} resamples, seed {self.seed}"


THOUSAND_RESAMPLES = Resampling()
