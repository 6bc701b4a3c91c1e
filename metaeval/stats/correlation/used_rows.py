"""The summaries, articles or systems that a coefficient is computed from.

Two evaluators are comparable only on equal ones.
"""

import numpy as np

from metaeval.stats.arrays import Bools, Ints, distinct
from metaeval.stats.correlation.coefficients import VARIED_SCORES, Coefficient
from metaeval.stats.correlation.levels import Level
from metaeval.stats.correlation.roc_auc import yes_or_no
from metaeval.stats.groups import Groups
from metaeval.stats.rows import Rows


def used_rows(level: Level, coefficient: Coefficient, rows: Rows) -> Bools:
    """Return whether each summary enters each evaluator's coefficient, (evaluators, n).

    `rows` are of several evaluators. Raises ValueError as `LEVELS` do.
    """
    labels = yes_or_no(rows.labels) if coefficient.is_for_yes_no and rows.yes_no else rows.labels
    used = ~np.isnan(rows.scores) & ~np.isnan(labels) & has_unit(level, rows)
    if not level.group:
        return used
    codes = _codes(level, rows)
    for scores, own in zip(rows.scores, used, strict=True):
        places = np.flatnonzero(own)
        if not places.size:
            continue
        places = places[np.argsort(codes[places], kind="stable")]
        groups = Groups(np.unique(codes[places], return_counts=True)[1])
        defined = coefficient.is_defined(labels[places], scores[places], groups)
        own[places[~groups.spread(defined)]] = False
    return used


def are_units_equal(level: Level, coefficient: Coefficient, rows: Rows) -> bool:
    """Return whether all evaluators' coefficients are computed from the same summaries."""
    scored = ~np.isnan(rows.scores)
    are_scored_alike = bool((scored == scored[:1]).all())
    if are_scored_alike and not (level.group and VARIED_SCORES in coefficient.needs):
        return True
    used = used_rows(level, coefficient, rows)
    return bool((used == used[:1]).all())


def has_unit(level: Level, rows: Rows) -> Bools:
    """Return whether the level can use each summary, (n,): its article, or its system, is known."""
    return np.ones(len(rows), dtype=bool) if level.name == "pooled" else _codes(level, rows) >= 0


def count_units(level: Level, rows: Rows, used: Bools) -> int:
    """Return the number of the level's units among the summaries `used`, (n,)."""
    if level.name == "pooled":
        return int(used.sum())
    return len(distinct(_codes(level, rows)[used]))


def _codes(level: Level, rows: Rows) -> Ints:
    return rows.articles if level.name == "article" else rows.systems
