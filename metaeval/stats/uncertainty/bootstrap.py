"""Correlations in resamples of the data, for bootstrap intervals and tests."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation import reweighted_levels
from metaeval.stats.correlation.constant_scores import LEFT_OUT, coefficient_at
from metaeval.stats.correlation.paired import paired
from metaeval.stats.correlation.reweighted_levels import ALWAYS, DrawnRows, Values
from metaeval.stats.correlation.reweighted_rows import Draws
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, FEWEST_SYSTEMS, too_few

SCHEMES: dict[str, str] = {
    "articles": "articles drawn with replacement, each with all its summaries",
    "systems": "systems drawn with replacement, each with all its summaries",
    "both": "systems and, independently, articles drawn with replacement",
}

JACKKNIFE_GROUPS = 500
"""The most groups to leave out in turn. With more, standard errors and accelerations hardly change."""

NO_SYSTEM_TO_DRAW = "systems cannot be drawn: that of some summaries is not known"
# Numbers in an array of all summaries or all units.
LARGEST_BLOCK = 3_000_000


class Bootstrap:
    """The coefficient of each evaluator in resamples of articles, systems or both.

    Equal to repeating the data as drawn, without doing so. A copy of an article is another article and a
    copy of a system another system; within an article, a system's copies are ties on both sides. All
    evaluators, levels and coefficients with the same labels get the same draws, whatever their scores, so
    that differences between them are paired. Articles and systems of labelled summaries are drawn from.

    A summary whose article is not known is drawn on its own, as its own article; one whose system is not
    known makes drawing systems impossible (nan throughout), unless the level leaves it out anyway.

    Parameters
    ----------
    scheme, level, coefficient : names, from SCHEMES, LEVELS and COEFFICIENTS.
    rows : of one or more evaluators.
    constant : what becomes of articles with equal scores: a name in CONSTANT.

    Raises ValueError for what the level refuses, and KeyError for an unknown name.

    Source: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979; over
    articles, systems or both: D. Deutsch, R. Dror & D. Roth, "A Statistical Analysis of Summarization
    Evaluation Metrics Using Resampling Methods", TACL 9, 2021.
    """

    def __init__(
        self,
        scheme: str,
        level: str,
        coefficient: str,
        rows: Rows,
        resampling: Resampling = THOUSAND_RESAMPLES,
        *,
        constant: str = LEFT_OUT,
    ) -> None:
        if scheme not in SCHEMES:
            raise KeyError(scheme)
        self._coefficient = coefficient_at(level, coefficient, constant)
        self._level = level
        self._resampling = resampling
        kept = [paired(own, by_majority=self._coefficient.is_for_yes_no) for own in rows.each]
        labelled = ~np.isnan(rows.labels)
        self.labelled_count = int(labelled.sum())
        """Summaries with a label, scored or not: from their articles and systems is drawn."""
        counted = labelled & _is_at_level(level, rows)

        self.article_count = self.system_count = 0
        article_units = np.full(len(rows), ALWAYS)
        system_units = np.full(len(rows), ALWAYS)
        if scheme != "systems":
            article_units, self.article_count = _units(rows.own_articles, counted, first=ALWAYS + 1)
        if scheme != "articles":
            system_units, self.system_count = _units(
                rows.systems, counted & (rows.systems >= 0), first=ALWAYS + 1 + self.article_count
            )
        self.unit_count = 1 + self.article_count + self.system_count
        self._most_rows = max(int(counted.sum()), self.unit_count)

        self.why_not: list[str] = []
        """(evaluators,) why resamples do not tell how the coefficient varies; empty if they do."""
        self.unit_counts: list[int] = []
        """(evaluators,) articles or systems with a summary that counts."""
        self._units: list[Ints] = []
        self._values: list[Values | None] = []
        is_defined = not self._coefficient.is_for_yes_no or (rows.yes_no and level != "system")
        for pairs in kept:
            at_level = _is_at_level(level, pairs.rows)
            places = pairs.places[at_level]
            drawn = DrawnRows(
                pairs.rows.at(at_level), article_units[places], system_units[places], self.unit_count
            )
            no_system = scheme != "articles" and bool((drawn.rows.systems < 0).any())
            self.why_not.append(NO_SYSTEM_TO_DRAW if no_system else _too_few(scheme, drawn))
            own_units = np.unique(np.maximum(drawn.article_units, drawn.system_units))
            self._units.append(own_units)
            self.unit_counts.append(int((own_units != ALWAYS).sum()))
            is_computed = is_defined and not no_system and len(places) > 0
            self._values.append(
                reweighted_levels.LEVELS[level](self._coefficient, drawn) if is_computed else None
            )

    def draws(self) -> Iterator[Floats]:
        """Yield blocks of `times` for `values`, drawn with replacement; together all resamples.

        Articles and systems are drawn from streams of their own, so that the articles are the same whether
        or not systems are drawn as well.
        """
        article_stream, system_stream = np.random.default_rng(self._resampling.seed).spawn(2)
        for width in self._widths(self._resampling.resamples):
            times = np.ones((self.unit_count, width))
            first_system = 1 + self.article_count
            times[1:first_system] = _drawn(article_stream, self.article_count, width)
            times[first_system:] = _drawn(system_stream, self.system_count, width)
            yield times

    def values(self, times: Floats) -> Floats:
        """Return the coefficient, (evaluators, resamples); `times` is (units, resamples).

        Unit 0 counts once in every resample; the articles drawn from follow, then the systems.
        """
        drawn, undefined = Draws(times), np.full(times.shape[1], np.nan)
        return np.array([undefined if values is None else values(drawn) for values in self._values])

    @cached_property
    def replicates(self) -> Floats:
        """The coefficient in each resample, (evaluators, resamples); nan where it is undefined."""
        return self._joined(self.draws())

    @cached_property
    def jackknife(self) -> Floats:
        """The coefficient without each unit, or each of JACKKNIFE_GROUPS groups, (evaluators, groups).

        nan also where an evaluator has no summary to leave out.
        """
        count = self.unit_count - 1
        groups = np.arange(count) % JACKKNIFE_GROUPS
        group_count = min(count, JACKKNIFE_GROUPS)

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


def _too_few(scheme: str, drawn: DrawnRows) -> str:
    """Say whether there are too few articles or systems to draw from; empty if not."""
    for kind, units, fewest in (
        ("articles", drawn.article_units, FEWEST_ARTICLES),
        ("systems", drawn.system_units, FEWEST_SYSTEMS),
    ):
        if scheme in (kind, "both") and len(np.unique(units)) < fewest:
            return too_few(kind, fewest)
    return ""


def _is_at_level(level: str, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return the summaries that the level does not leave out, (n,)."""
    if level == "article":
        return rows.articles >= 0
    return rows.systems >= 0 if level in ("system", "within_system") else np.ones(len(rows), dtype=bool)


def _units(codes: Ints, counted: npt.NDArray[np.bool_], *, first: int) -> tuple[Ints, int]:
    """Return the unit of each summary, (n,), numbered from `first`, and the number of units.

    Summaries that are not counted get ALWAYS.
    """
    units = np.full(len(codes), ALWAYS)
    distinct, places = np.unique(codes[counted], return_inverse=True)
    units[counted] = first + places
    return units, len(distinct)


def _drawn(stream: np.random.Generator, count: int, resamples: int) -> Floats:
    """Draw `count` units with replacement: how often each is drawn, (count, resamples)."""
    if not count:
        return np.empty((0, resamples))
    drawn = stream.integers(count, size=(resamples, count))
    drawn += count * np.arange(resamples)[:, None]
    times = np.bincount(drawn.ravel(), minlength=count * resamples)
    return times.reshape(resamples, count).T.astype(np.float64)
