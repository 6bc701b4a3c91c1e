"""The four things that 'correlation with human labels' can mean.

Published papers use 'summary-level' for both `pooled` and `article_mean`, which can differ so much that they
rank evaluators differently; so every estimate names its level.

All four take the same arguments, one entry per summary:

coefficient : what to compute, from `COEFFICIENTS`
labels : human labels; nan = none
scores : an evaluator's scores; nan = none
articles, systems : whole-number codes of the summary's article and system; negative = not known
yes_no : whether it is a yes/no question, its labels means of Yes = 1 and No = 0

A summary that lacks either number is left out and counted. Where the coefficient is not defined, the value
is nan, with the reason. All four raise ValueError for unequal lengths, infinite numbers, codes that are not
whole numbers and, if the coefficient is for yes/no labels, a yes/no question's labels outside 0 to 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Ints, distinct, order_of
from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.paired import Paired, count_known, nonzero, paired, paired_alike
from metaeval.stats.groups import Groups
from metaeval.stats.result import Estimate

# Means of the same numbers summed in another order differ by about 1e-16, which must not break a tie.
SYSTEM_MEAN_DECIMALS = 12

NO_ARTICLE = "summaries whose article is not known"
NO_SYSTEM = "summaries whose system is not known"
NO_PAIR_IN_SYSTEM = "systems without any pair of label and score"


def pooled(
    coefficient: Coefficient,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
) -> Estimate:
    """One coefficient over all summaries.

    Elsewhere: 'global' in nlpstats, 'sample level' in UniEval; the level of ICE's Table 1.
    """
    return pooled_each(coefficient, labels, [scores], articles, systems, yes_no=yes_no)[0]


def pooled_each(
    coefficient: Coefficient,
    labels: npt.ArrayLike,
    scores: Sequence[npt.ArrayLike],
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
) -> list[Estimate]:
    """`pooled` of the scores of several evaluators, which share what is made of the labels."""
    definition = (
        f"{coefficient.label}, pooled: one coefficient over all summaries with both a label and a score."
        f" {coefficient.definition}"
    )
    as_yes_no = coefficient.is_for_yes_no and yes_no
    found: dict[int, Estimate] = {}
    for places, pairs, kept in paired_alike(labels, scores, articles, systems, as_yes_no=as_yes_no):
        if coefficient.is_for_yes_no and not yes_no:
            undefined = _undefined(pairs, definition, _needs_yes_no_question(coefficient))
            found |= dict.fromkeys(places, undefined)
            continue
        n_articles, n_systems = count_known(pairs.articles), count_known(pairs.systems)
        values = coefficient.of_each(pairs.labels, kept)
        for place, (value, reason) in zip(places, values, strict=True):
            found[place] = Estimate(
                value=value,
                n=len(pairs.labels),
                articles=n_articles,
                systems=n_systems,
                definition=definition,
                left_out=pairs.left_out,
                reason=reason,
            )
    return [found[place] for place in range(len(scores))]


def article_mean(
    coefficient: Coefficient,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
) -> Estimate:
    """The mean over articles of the coefficient over the article's summaries.

    Articles where the coefficient is undefined are left out and counted, as in nlpstats, UniEval and
    BARTScore; ExplainaBoard counts them as 0 instead. Articles used and left out add up to all known ones.

    Elsewhere: 'input' in nlpstats, 'summary level' in UniEval, BARTScore and G-Eval, 'item' in
    mt-metrics-eval.
    """
    pairs = paired(labels, scores, articles, systems, as_yes_no=coefficient.is_for_yes_no and yes_no)
    return _mean(coefficient, pairs, "article", yes_no)


def system_mean(
    coefficient: Coefficient,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
) -> Estimate:
    """The mean over systems of the coefficient over the system's summaries.

    It tells whether scores find the better of one system's own summaries, however the systems compare.
    Systems where the coefficient is undefined are left out and counted.
    """
    pairs = paired(labels, scores, articles, systems, as_yes_no=coefficient.is_for_yes_no and yes_no)
    return _mean(coefficient, pairs, "system", yes_no)


def system(
    coefficient: Coefficient,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
) -> Estimate:
    """The coefficient over the systems' mean labels and mean scores.

    Both means are over the system's summaries that have both numbers, and are rounded to 12 decimals: two
    means that differ only by floating-point noise are a tie.
    """
    pairs = paired(labels, scores, articles, systems, as_yes_no=False)
    definition = (
        f"{coefficient.label}, system level: one coefficient over the systems' mean labels and mean scores,"
        f" both over the system's summaries with a label and a score, rounded to {SYSTEM_MEAN_DECIMALS}"
        f" decimals. {coefficient.definition}"
    )
    if coefficient.is_for_yes_no:
        is_mean = f"{coefficient.label} compares yes with no, and a system's mean label is neither"
        return _undefined(pairs, definition, is_mean if yes_no else _needs_yes_no_question(coefficient))

    order, groups, unknown = _grouped(pairs.systems, pairs.given_systems)
    used = groups.only(groups.sizes > 0)
    value, reason = coefficient.of(
        np.round(used.mean(pairs.labels[order]), SYSTEM_MEAN_DECIMALS),
        np.round(used.mean(pairs.scores[order]), SYSTEM_MEAN_DECIMALS),
    )
    unused = len(groups.sizes) - len(used.sizes)
    return Estimate(
        value=value,
        n=len(order),
        articles=count_known(pairs.articles[order]),
        systems=len(used.sizes),
        definition=definition,
        left_out=nonzero(pairs.left_out | {NO_SYSTEM: unknown, NO_PAIR_IN_SYSTEM: unused}),
        reason=f"over the systems' means: {reason}" if reason else "",
    )


def _mean(coefficient: Coefficient, pairs: Paired, group: str, yes_no: bool) -> Estimate:
    """The mean over articles, or over systems, of the coefficient within each."""
    why_not = " or ".join(need.otherwise for need in coefficient.needs)
    or_with = f", or with {why_not}," if why_not else ""
    definition = (
        f"{coefficient.label}, mean over {group}s: one coefficient within each {group} over its summaries"
        f" with both a label and a score, then the mean over the {group}s where it is defined; {group}s with"
        f" fewer than two such summaries{or_with} are left out, not counted as 0. {coefficient.definition}"
    )
    if coefficient.is_for_yes_no and not yes_no:
        return _undefined(pairs, definition, _needs_yes_no_question(coefficient))

    is_article = group == "article"
    codes, given = (
        (pairs.articles, pairs.given_articles) if is_article else (pairs.systems, pairs.given_systems)
    )
    order, groups, unknown = _grouped(codes, given)
    values, undefined = coefficient.of_groups(pairs.labels[order], pairs.scores[order], groups)
    defined = ~np.isnan(values)
    groups_left_out = {f"{group}s with {why}": count for why, count in undefined.items()}
    if defined.any():
        value, reason = float(values[defined].mean()), ""
    else:
        counts = ", ".join(f"{what}: {count}" for what, count in groups_left_out.items())
        value, reason = np.nan, f"no {group} in which it is defined ({counts or f'no {group} is known'})"
    kept = order[groups.spread(defined)]
    return Estimate(
        value=value,
        n=len(kept),
        articles=count_known(pairs.articles[kept]),
        systems=count_known(pairs.systems[kept]),
        definition=definition,
        left_out=nonzero(
            pairs.left_out | {NO_ARTICLE if is_article else NO_SYSTEM: unknown} | groups_left_out
        ),
        reason=reason,
    )


def _grouped(codes: Ints, given: Ints) -> tuple[Ints, Groups, int]:
    """Rows of known code, sorted by it; a group, perhaps empty, for each known code given; rows unknown."""
    unknown = int((codes < 0).sum())
    order = order_of(codes + 1)[unknown:] if unknown else order_of(codes)
    starts = np.searchsorted(codes[order], distinct(given[given >= 0]))
    return order, Groups(np.diff(starts, append=len(order))), unknown


def _needs_yes_no_question(coefficient: Coefficient) -> str:
    return f"{coefficient.label} needs a yes/no question"


def _undefined(pairs: Paired, definition: str, reason: str) -> Estimate:
    return Estimate(
        value=np.nan,
        n=len(pairs.labels),
        articles=count_known(pairs.articles),
        systems=count_known(pairs.systems),
        definition=definition,
        left_out=pairs.left_out,
        reason=reason,
    )


@dataclass(frozen=True)
class Level:
    """A level by the name it has on the command line; `label` is for readers."""

    name: str
    label: str
    estimate: Callable[..., Estimate]
    each: Callable[..., list[Estimate]] | None = None
    """`estimate` of several evaluators, where that saves something."""
    is_of_means: bool = False  # so that more than the order of labels, and of scores, matters

    def estimates(
        self,
        coefficient: Coefficient,
        labels: npt.ArrayLike,
        scores: Sequence[npt.ArrayLike],
        *given: npt.ArrayLike,
        yes_no: bool,
    ) -> list[Estimate]:
        """`estimate` for the scores of one evaluator after the other."""
        if self.each is not None:
            return self.each(coefficient, labels, scores, *given, yes_no=yes_no)
        return [self.estimate(coefficient, labels, row, *given, yes_no=yes_no) for row in scores]


LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        Level("pooled", "pooled over summaries", pooled, pooled_each),
        Level("article", "mean over articles", article_mean),
        Level("system", "over systems' means", system, is_of_means=True),
        Level("within_system", "mean over systems", system_mean),
    )
}
