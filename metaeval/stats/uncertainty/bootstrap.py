"""Correlations of resamples of the data: what a bootstrap interval or a bootstrap test is made from."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints, number_vector
from metaeval.stats.correlation import reweighted_levels
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.paired import paired
from metaeval.stats.correlation.reweighted_levels import ALWAYS, DrawnRows, Values
from metaeval.stats.correlation.reweighted_rows import Drawn
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, FEWEST_SYSTEMS, too_few

SCHEMES: dict[str, str] = {
    "articles": "articles drawn with replacement, each with all its summaries",
    "systems": "systems drawn with replacement, each with all its summaries",
    "both": "systems and, independently, articles drawn with replacement",
}

NO_SYSTEM_TO_DRAW = "systems cannot be drawn: that of some summaries is not known"
# Numbers in an array of all summaries or all units.
LARGEST_BLOCK = 3_000_000


def bootstrap_replicates(
    scheme: str,
    level: str,
    coefficient: str,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> Floats:
    """(evaluators, resamples) the coefficient in each resample; nan where it is undefined.

    Equal to repeating the data as drawn, without doing so. A copy of an article is another article and a
    copy of a system another system; within an article, a system's copies are ties on both sides. All
    evaluators, levels and coefficients with the same labels get the same draws, whatever their scores, so
    that differences between them are paired.

    Parameters
    ----------
    scheme, level, coefficient : names, from SCHEMES, LEVELS and COEFFICIENTS.
    labels : (n,) human labels; nan = none. Articles and systems of labelled summaries are drawn from.
    scores : (evaluators, n); nan = none.
    articles, systems : (n,) whole-number codes; negative = not known. A summary whose article is not known is
        drawn on its own, as its own article; one whose system is not known makes drawing systems
        impossible (nan throughout), unless the level leaves it out anyway.
    yes_no : the labels are means of Yes = 1 and No = 0.

    Raises ValueError for what the level refuses, and KeyError for an unknown name.

    Source: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979; over
    articles, systems or both: D. Deutsch, R. Dror & D. Roth, "A Statistical Analysis of Summarization
    Evaluation Metrics Using Resampling Methods", TACL 9, 2021.
    """
    resampling = Resampling(scheme, level, coefficient, labels, scores, articles, systems, yes_no=yes_no)
    return resampling.replicates(resamples, seed)


class Resampling:
    """What can be drawn again, and the coefficient of each evaluator given how often it was."""

    def __init__(
        self,
        scheme: str,
        level: str,
        coefficient: str,
        labels: npt.ArrayLike,
        scores: npt.ArrayLike,
        articles: npt.ArrayLike,
        systems: npt.ArrayLike,
        *,
        yes_no: bool,
    ) -> None:
        """The arguments are those of `bootstrap_replicates`."""
        if scheme not in SCHEMES:
            raise KeyError(scheme)
        self._coefficient = COEFFICIENTS[coefficient]
        self._level = level
        as_yes_no = self._coefficient.is_for_yes_no and yes_no
        matrix = np.asarray(scores, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"scores must be (evaluators, summaries), not of shape {matrix.shape}")
        kept = [paired(labels, row, articles, systems, as_yes_no=as_yes_no) for row in matrix]
        article, system = np.asarray(articles), np.asarray(systems)
        labelled = ~np.isnan(number_vector("labels", labels))
        self.labelled_count = int(labelled.sum())
        """Summaries with a label, scored or not: from their articles and systems is drawn."""
        counted = labelled & _is_at_level(level, article, system)

        self.article_count = self.system_count = 0
        article_units = np.full(len(article), ALWAYS)
        system_units = np.full(len(system), ALWAYS)
        if scheme != "systems":
            on_its_own = np.where(article < 0, article.max(initial=0) + 1 + np.arange(len(article)), article)
            article_units, self.article_count = _units(on_its_own, counted, first=ALWAYS + 1)
        if scheme != "articles":
            system_units, self.system_count = _units(
                system, counted & (system >= 0), first=ALWAYS + 1 + self.article_count
            )
        self.unit_count = 1 + self.article_count + self.system_count
        self._most_rows = max(int(counted.sum()), self.unit_count)

        self.why_not: list[str] = []
        """(evaluators,) why resamples do not tell how the coefficient varies; empty if they do."""
        self._units: list[Ints] = []
        self._values: list[Values | None] = []
        is_defined = not self._coefficient.is_for_yes_no or (yes_no and level != "system")
        for pairs in kept:
            at_level = _is_at_level(level, pairs.articles, pairs.systems)
            places = pairs.places[at_level]
            rows = DrawnRows(
                labels=pairs.labels[at_level],
                scores=pairs.scores[at_level],
                articles=article[places],
                systems=system[places],
                article_units=article_units[places],
                system_units=system_units[places],
                unit_count=self.unit_count,
            )
            no_system = scheme != "articles" and bool((rows.systems < 0).any())
            self.why_not.append(NO_SYSTEM_TO_DRAW if no_system else _too_few(scheme, rows))
            self._units.append(np.unique(np.maximum(rows.article_units, rows.system_units)))
            is_computed = is_defined and not no_system and len(places) > 0
            self._values.append(
                reweighted_levels.LEVELS[level](self._coefficient, rows) if is_computed else None
            )

    def draws(self, resamples: int, seed: int) -> Iterator[Floats]:
        """Blocks of `times` for `values`, drawn with replacement; together so many resamples.

        Articles and systems are drawn from streams of their own, so that the articles are the same whether
        or not systems are drawn as well.
        """
        article_stream, system_stream = np.random.default_rng(seed).spawn(2)
        for width in self._widths(resamples):
            times = np.ones((self.unit_count, width))
            first_system = 1 + self.article_count
            times[1:first_system] = _drawn(article_stream, self.article_count, width)
            times[first_system:] = _drawn(system_stream, self.system_count, width)
            yield times

    def values(self, times: Floats) -> Floats:
        """(evaluators, resamples) the coefficient, nan where undefined; `times` is (units, resamples).

        Unit 0 counts once in every resample; the articles drawn from follow, then the systems.
        """
        drawn, undefined = Drawn(times), np.full(times.shape[1], np.nan)
        return np.array([undefined if values is None else values(drawn) for values in self._values])

    def replicates(self, resamples: int, seed: int) -> Floats:
        """(evaluators, resamples) the coefficient in each of so many draws."""
        return self._joined(self.draws(resamples, seed))

    def jackknife(self, most_groups: int) -> Floats:
        """(evaluators, groups) the coefficient without each unit, or each of so many groups of units.

        nan also where an evaluator has no summary to leave out.
        """
        count = self.unit_count - 1
        groups = np.arange(count) % most_groups
        group_count = min(count, most_groups)

        def blocks() -> Iterator[Floats]:
            start = 0
            for width in self._widths(group_count):
                times = np.ones((self.unit_count, width))
                here = (groups >= start) & (groups < start + width)
                times[1:][here, groups[here] - start] = 0
                start += width
                yield times

        found = self._joined(blocks())
        for values, units in zip(found, self._units, strict=True):
            values[np.isin(np.arange(group_count), groups[units[units != ALWAYS] - 1], invert=True)] = np.nan
        return found

    def _joined(self, blocks: Iterator[Floats]) -> Floats:
        none = np.empty((len(self._values), 0))
        return np.concatenate([none, *(self.values(times) for times in blocks)], axis=1)

    def _widths(self, resamples: int) -> Iterator[int]:
        most = max(8, LARGEST_BLOCK // self._most_rows)
        for start in range(0, resamples, most):
            yield min(most, resamples - start)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """So many resamples, drawn once for all that is made from them."""

    resampling: Resampling
    resamples: int
    seed: int

    @cached_property
    def replicates(self) -> Floats:
        """(evaluators, resamples) the coefficient in each, as `bootstrap_replicates` gives it."""
        return self.resampling.replicates(self.resamples, self.seed)


def _too_few(scheme: str, rows: DrawnRows) -> str:
    """Whether there are too few articles, or systems, to draw from, in words."""
    for kind, units, fewest in (
        ("articles", rows.article_units, FEWEST_ARTICLES),
        ("systems", rows.system_units, FEWEST_SYSTEMS),
    ):
        if scheme in (kind, "both") and len(np.unique(units)) < fewest:
            return too_few(kind, fewest)
    return ""


def _is_at_level(level: str, articles: Ints, systems: Ints) -> npt.NDArray[np.bool_]:
    """(n,) the summaries that the level does not leave out for want of an article or system."""
    if level == "article":
        return articles >= 0
    return systems >= 0 if level in ("system", "within_system") else np.ones(len(articles), dtype=bool)


def _units(codes: Ints, counted: npt.NDArray[np.bool_], *, first: int) -> tuple[Ints, int]:
    """(n,) the unit of each summary, numbered from `first` in the order of the codes, and how many there are.

    Summaries that are not counted get ALWAYS.
    """
    units = np.full(len(codes), ALWAYS)
    distinct, places = np.unique(codes[counted], return_inverse=True)
    units[counted] = first + places
    return units, len(distinct)


def _drawn(stream: np.random.Generator, count: int, resamples: int) -> Floats:
    """(count, resamples) how often each of `count` units is among as many draws with replacement."""
    if not count:
        return np.empty((0, resamples))
    drawn = stream.integers(count, size=(resamples, count))
    drawn += count * np.arange(resamples)[:, None]
    times = np.bincount(drawn.ravel(), minlength=count * resamples)
    return times.reshape(resamples, count).T.astype(np.float64)
