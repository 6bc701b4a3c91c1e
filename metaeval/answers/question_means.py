"""The mean labels of all questions in one table, by system or also by language and dataset. Pure.

On yes/no questions they are the shares of Yes: Tables 3, 9 and 10 of SEAHORSE (Clark et al. 2023).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.answers.report import MeanLabel, counted_in, mean_label, place_of
from metaeval.snapshot.arrays import ALL, Labels, Summaries
from metaeval.stats.arrays import Bools

BY_SYSTEM, BY_PLACE = "system", "place"
ROWS = {BY_SYSTEM: "system", BY_PLACE: "language, dataset and system"}
"""Choices of the table's rows -> labels."""
ALL_SYSTEMS = "all systems"


@dataclass(frozen=True)
class Place:
    """A language and a dataset, and their summaries, (summaries,)."""

    language: str
    dataset: str
    """The name of a dataset, ALL for all together, or empty for articles that name none."""
    members: Bools
    has_systems: bool
    """True if each system has a row, not only all together."""


@dataclass(frozen=True)
class MeansRow:
    """The mean labels of one system, or of all together."""

    language: str
    dataset: str
    system: str
    """ALL_SYSTEMS for all together."""
    means: Sequence[MeanLabel | None]
    """One for each question; None where the system has no label."""

    @property
    def name(self) -> str:
        """The place and the system as one text."""
        return f"{self.place} {self.system}".lstrip()

    @property
    def place(self) -> str:
        """The language and the dataset as one text; empty for all together."""
        return place_of(*("" if each == ALL else each for each in (self.language, self.dataset)))

    def as_json(self) -> list[dict[str, object]]:
        """Return a row for each mean."""
        own = {"row": self.name, "language": self.language, "dataset": self.dataset, "system": self.system}
        found = [each.as_json() for each in self.means if each]
        return [own | {name: row[name] for name in row if name not in (*own, "group")} for row in found]


def n_places(summaries: Summaries) -> int:
    """Return how many different pairs of language and dataset there are."""
    return len(np.unique(np.stack([summaries.languages, summaries.datasets]), axis=1).T)


def question_means(
    summaries: Summaries,
    labels: Sequence[Labels],
    chosen: Bools,
    *,
    rows: str = BY_SYSTEM,
    articles: str = "every",
    at_every_look: bool = False,
) -> list[MeansRow]:
    """Return the mean labels on all questions of each system and of all, among the `chosen` (summaries,).

    With `rows` BY_PLACE each language and dataset has such rows, each language with several datasets a row of
    all its systems, and so have all languages together. `articles` are those of `counted_in`, for each place
    and question.
    """
    places = [Place(ALL, ALL, chosen, has_systems=True)]
    if rows == BY_PLACE:
        places = [*_places(summaries, chosen), replace(places[0], has_systems=False)]
    return [
        row
        for place in places
        for row in _rows_of(summaries, labels, place, articles, at_every_look=at_every_look)
    ]


def _places(summaries: Summaries, chosen: Bools) -> Iterator[Place]:
    for code, language in enumerate(summaries.language_names):
        of_language = chosen & (summaries.languages == code)
        datasets = np.unique(summaries.datasets[of_language]).tolist()
        for each in datasets:
            name = summaries.dataset_names[each] if each >= 0 else ""
            yield Place(language, name, of_language & (summaries.datasets == each), has_systems=True)
        if len(datasets) > 1:
            yield Place(language, ALL, of_language, has_systems=False)


def _rows_of(
    summaries: Summaries, labels: Sequence[Labels], place: Place, articles: str, *, at_every_look: bool
) -> Iterator[MeansRow]:
    labelled = [place.members & ~np.isnan(each.values) for each in labels]
    counted = [counted_in(summaries, each, articles) for each in labelled]
    any_label = np.any(labelled, axis=0)
    codes = np.unique(summaries.systems[any_label & (summaries.systems >= 0)]).tolist()
    systems = [(summaries.system_names[code], summaries.systems == code) for code in codes]
    everyone = [(ALL_SYSTEMS, place.members)] if codes else []
    for system, own in [*(systems if place.has_systems else []), *everyone]:
        yield MeansRow(
            place.language,
            place.dataset,
            system,
            [
                replace(
                    mean_label(summaries, each, among & own, at_every_look=at_every_look), left_out=left_out
                )
                if (has_label & own).any()
                else None
                for each, has_label, (among, left_out) in zip(labels, labelled, counted, strict=True)
            ],
        )
