"""The three things that 'correlation with human labels' can mean.

Published papers use 'summary-level' for both `pooled` and `article_mean`, which can differ so much that they
rank evaluators differently; so every estimate names its level.

All three take the same arguments, one entry per summary:

coefficient : what to compute, from `COEFFICIENTS`
labels : human labels; nan = none
scores : an evaluator's scores; nan = none
articles, systems : whole-number codes of the summary's article and system; negative = not known
yes_no : whether it is a yes/no question, its labels means of Yes = 1 and No = 0

A summary that lacks either number is left out and counted. Where the coefficient is not defined, the value
is nan, with the reason. All three raise ValueError for unequal lengths, infinite numbers, codes that are not
whole numbers and, if the coefficient is for yes/no labels, a yes/no question's labels outside 0 to 1.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Ints, distinct
from metaeval.stats.coefficients import Coefficient
from metaeval.stats.groups import Groups
from metaeval.stats.paired import Paired, count_known, nonzero, paired
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
    pairs = paired(labels, scores, articles, systems, as_yes_no=coefficient.is_for_yes_no and yes_no)
    definition = (
        f"{coefficient.label}, pooled: one coefficient over all summaries with both a label and a score."
        f" {coefficient.definition}"
    )
    if coefficient.is_for_yes_no and not yes_no:
        return _undefined(pairs, definition, _needs_yes_no_question(coefficient))
    value, reason = coefficient.of(pairs.labels, pairs.scores)
    return Estimate(
        value=value,
        n=len(pairs.labels),
        articles=count_known(pairs.articles),
        systems=count_known(pairs.systems),
        definition=definition,
        left_out=pairs.left_out,
        reason=reason,
    )


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
    why_not = " or ".join(need.otherwise for need in coefficient.needs)
    definition = (
        f"{coefficient.label}, mean over articles: one coefficient within each article over its summaries"
        " with both a label and a score, then the mean over the articles where it is defined; articles with"
        f" fewer than two such summaries, or with {why_not}, are left out, not counted as 0."
        f" {coefficient.definition}"
    )
    if coefficient.is_for_yes_no and not yes_no:
        return _undefined(pairs, definition, _needs_yes_no_question(coefficient))

    order, groups, unknown = _grouped(pairs.articles, pairs.given_articles)
    values, undefined = coefficient.of_groups(pairs.labels[order], pairs.scores[order], groups)
    defined = ~np.isnan(values)
    articles_left_out = {f"articles with {why}": count for why, count in undefined.items()}
    if defined.any():
        value, reason = float(values[defined].mean()), ""
    else:
        counts = ", ".join(f"{what}: {count}" for what, count in articles_left_out.items())
        value, reason = np.nan, f"no article in which it is defined ({counts or 'no article is known'})"
    return Estimate(
        value=value,
        n=int(groups.sizes[defined].sum()),
        articles=int(defined.sum()),
        systems=count_known(pairs.systems[order][groups.spread(defined)]),
        definition=definition,
        left_out=nonzero(pairs.left_out | {NO_ARTICLE: unknown} | articles_left_out),
        reason=reason,
    )


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


def _grouped(codes: Ints, given: Ints) -> tuple[Ints, Groups, int]:
    """Rows of known code, sorted by it; a group, perhaps empty, for each known code given; rows unknown."""
    unknown = int((codes < 0).sum())
    order = np.argsort(codes)[unknown:]
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


LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        Level("pooled", "pooled over summaries", pooled),
        Level("article", "mean over articles", article_mean),
        Level("system", "over systems' means", system),
    )
}
