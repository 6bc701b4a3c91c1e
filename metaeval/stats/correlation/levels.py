"""The four meanings of 'correlation with human labels'.

Papers use 'summary-level' for both `pooled` and `article_mean`, which can rank evaluators differently, so
every estimate names its level.

Summaries without a label or a score are left out and counted. Where the coefficient is undefined, the value
is nan, with the reason. All levels raise ValueError for a yes/no coefficient when a yes/no question's labels
lie outside 0 to 1.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metaeval.stats.arrays import Ints, distinct, order_of
from metaeval.stats.correlation.coefficients import VARIED_SCORES, Coefficient
from metaeval.stats.correlation.paired import Paired, count_known, nonzero, paired, paired_alike
from metaeval.stats.groups import Groups
from metaeval.stats.result import Estimate
from metaeval.stats.rows import Rows

# Means of the same numbers summed in another order differ by about 1e-16, which must not break a tie.
SYSTEM_MEAN_DECIMALS = 12

NO_ARTICLE = "summaries whose article is not known"
NO_SYSTEM = "summaries whose system is not known"
NO_PAIR_IN_SYSTEM = "systems without any pair of label and score"


def pooled(coefficient: Coefficient, rows: Rows) -> Estimate:
    """Return one coefficient over all summaries.

    Elsewhere: 'global' in nlpstats, 'sample level' in UniEval; the level of ICE's Table 1.
    """
    return pooled_each(coefficient, rows.with_scores(rows.scores[None]))[0]


def pooled_each(coefficient: Coefficient, rows: Rows) -> list[Estimate]:
    """Return `pooled` for several evaluators, sharing what depends on labels alone."""
    definition = (
        f"{coefficient.label}, pooled: one coefficient over all summaries with both a label and a score."
        f" {coefficient.definition}"
    )
    found: dict[int, Estimate] = {}
    for places, pairs, kept in paired_alike(rows, by_majority=coefficient.is_for_yes_no):
        if coefficient.is_for_yes_no and not rows.yes_no:
            undefined = undefined_estimate(pairs, definition, _needs_yes_no_question(coefficient))
            found |= dict.fromkeys(places, undefined)
            continue
        n_articles, n_systems = count_known(pairs.rows.articles), count_known(pairs.rows.systems)
        values = coefficient.of_each(pairs.rows.labels, kept)
        for place, (value, reason) in zip(places, values, strict=True):
            found[place] = Estimate(
                value=value,
                n=len(pairs.rows),
                articles=n_articles,
                systems=n_systems,
                definition=definition,
                left_out=pairs.left_out,
                reason=reason,
            )
    return [found[place] for place in range(len(rows.scores))]


def article_mean(coefficient: Coefficient, rows: Rows) -> Estimate:
    """Return the mean over articles of the coefficient over the article's summaries.

    Articles where the coefficient is undefined are left out and counted, as in nlpstats, UniEval and
    BARTScore. `coefficient_at` gives coefficients that count an article with equal scores as 0 instead, as in
    ExplainaBoard.

    Elsewhere: 'input' in nlpstats, 'summary level' in UniEval, BARTScore and G-Eval, 'item' in
    mt-metrics-eval.
    """
    return _mean(coefficient, rows, "article")


def system_mean(coefficient: Coefficient, rows: Rows) -> Estimate:
    """Return the mean over systems of the coefficient over the system's summaries.

    It shows whether scores find the better of one system's own summaries. Systems where the coefficient is
    undefined are left out and counted.
    """
    return _mean(coefficient, rows, "system")


def system(coefficient: Coefficient, rows: Rows) -> Estimate:
    """Return the coefficient over the systems' mean labels and mean scores.

    Both means are over the system's summaries with a label and a score, rounded to 12 decimals so that
    floating-point noise breaks no tie.
    """
    pairs = paired(rows, by_majority=False)
    definition = (
        f"{coefficient.label}, system level: one coefficient over the systems' mean labels and mean scores,"
        f" both over the system's summaries with a label and a score, rounded to {SYSTEM_MEAN_DECIMALS}"
        f" decimals. {coefficient.definition}"
    )
    if coefficient.is_for_yes_no:
        is_mean = f"{coefficient.label} compares yes with no, and a system's mean label is neither"
        return undefined_estimate(
            pairs, definition, is_mean if rows.yes_no else _needs_yes_no_question(coefficient)
        )

    order, groups, unknown = _grouped(pairs.rows.systems, rows.systems)
    used = groups.only(groups.sizes > 0)
    value, reason = coefficient.of(
        np.round(used.mean(pairs.rows.labels[order]), SYSTEM_MEAN_DECIMALS),
        np.round(used.mean(pairs.rows.scores[order]), SYSTEM_MEAN_DECIMALS),
    )
    unused = len(groups.sizes) - len(used.sizes)
    return Estimate(
        value=value,
        n=len(order),
        articles=count_known(pairs.rows.articles[order]),
        systems=len(used.sizes),
        definition=definition,
        left_out=nonzero(pairs.left_out | {NO_SYSTEM: unknown, NO_PAIR_IN_SYSTEM: unused}),
        reason=f"over the systems' means: {reason}" if reason else "",
    )


def _mean(coefficient: Coefficient, rows: Rows, group: str) -> Estimate:
    """Return the mean over articles or systems of the coefficient within each."""
    pairs = paired(rows, by_majority=coefficient.is_for_yes_no)
    why_not = " or ".join(need.otherwise for need in coefficient.needs)
    or_with = f", or with {why_not}," if why_not else ""
    counted_as_zero = (
        f" {group.capitalize()}s with all scores equal, but not all labels, count as 0: the evaluator does"
        " not order them."
        if coefficient.is_zero_if_constant
        else ""
    )
    definition = (
        f"{coefficient.label}, mean over {group}s: one coefficient within each {group} over its summaries"
        f" with both a label and a score, then the mean over the {group}s where it is defined; {group}s with"
        f" fewer than two such summaries{or_with} are left out, not counted as 0.{counted_as_zero}"
        f" {coefficient.definition}"
    )
    if coefficient.is_for_yes_no and not rows.yes_no:
        return undefined_estimate(pairs, definition, _needs_yes_no_question(coefficient))

    is_article = group == "article"
    order, groups, unknown = (
        _grouped(pairs.rows.articles, rows.articles)
        if is_article
        else _grouped(pairs.rows.systems, rows.systems)
    )
    values, undefined = coefficient.of_groups(pairs.rows.labels[order], pairs.rows.scores[order], groups)
    defined = ~np.isnan(values)
    groups_left_out = {f"{group}s with {why}": count for why, count in undefined.items()}
    if defined.any():
        value, reason = float(values[defined].mean()), ""
    else:
        counts = ", ".join(f"{what}: {count}" for what, count in groups_left_out.items())
        value, reason = np.nan, f"no {group} in which it is defined ({counts or f'no {group} is known'})"
    kept = order[groups.spread(defined)]
    zeros = 0
    if coefficient.is_zero_if_constant and defined.any():
        varied = VARIED_SCORES.holds(pairs.rows.labels[kept], pairs.rows.scores[kept], groups.only(defined))
        zeros = int((~varied).sum())
    return Estimate(
        value=value,
        n=len(kept),
        articles=count_known(pairs.rows.articles[kept]),
        systems=count_known(pairs.rows.systems[kept]),
        definition=definition,
        left_out=nonzero(
            pairs.left_out | {NO_ARTICLE if is_article else NO_SYSTEM: unknown} | groups_left_out
        ),
        counted_as_zero=nonzero({f"{group}s with {VARIED_SCORES.otherwise}": zeros}),
        reason=reason,
    )


def _grouped(codes: Ints, given: Ints) -> tuple[Ints, Groups, int]:
    """Return rows sorted by known code, their groups, and the number of rows of unknown code.

    Each known code in `given` has a group, perhaps empty.
    """
    unknown = int((codes < 0).sum())
    order = order_of(codes + 1)[unknown:] if unknown else order_of(codes)
    starts = np.searchsorted(codes[order], distinct(given[given >= 0]))
    return order, Groups(np.diff(starts, append=len(order))), unknown


def _needs_yes_no_question(coefficient: Coefficient) -> str:
    return f"{coefficient.label} needs a yes/no question"


def undefined_estimate(pairs: Paired, definition: str, reason: str) -> Estimate:
    """Return an estimate without a value for the summaries of `pairs`."""
    return Estimate(
        value=np.nan,
        n=len(pairs.rows),
        articles=count_known(pairs.rows.articles),
        systems=count_known(pairs.rows.systems),
        definition=definition,
        left_out=pairs.left_out,
        reason=reason,
    )


@dataclass(frozen=True)
class Level:
    """A level of correlation; `name` is its name on the command line, `label` is for readers."""

    name: str
    label: str
    estimate: Callable[[Coefficient, Rows], Estimate]
    each: Callable[[Coefficient, Rows], list[Estimate]] | None = None
    """`estimate` for several evaluators, where that is faster."""
    is_of_means: bool = False  # so that not only the order of labels and scores matters
    units: str = "summaries"  # what the coefficient, or the mean of coefficients, is taken over
    group: str = ""  # "article" or "system" if the level is a mean of the coefficient within each

    def estimates(self, coefficient: Coefficient, rows: Rows) -> list[Estimate]:
        """Return `estimate` for the scores of each evaluator."""
        if self.each is not None:
            return self.each(coefficient, rows)
        return [self.estimate(coefficient, own) for own in rows.each]


LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        Level("pooled", "pooled over summaries", pooled, pooled_each),
        Level("article", "mean over articles", article_mean, units="articles", group="article"),
        Level("system", "over systems' means", system, is_of_means=True, units="systems"),
        Level("within_system", "mean over systems", system_mean, units="systems", group="system"),
    )
}
