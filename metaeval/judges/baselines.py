"""Baselines for judges on the tuning part: summary length and the pool's majority."""

import numpy as np

from annotation.models import Project
from metaeval.snapshot.arrays import Scores, SetupScores, read_only
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Floats
from scoring.contract.evaluator import GENERAL, EvaluatorError
from scoring.contract.items import Item
from scoring.contract.seen import EVERY_DIMENSION
from scoring.evaluators.length import Length
from scoring.evaluators.majority import Majority
from scoring.inputs.items import items_of
from scoring.inputs.labelled_pool import pool_examples, pool_labels
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.split import articles_in, split_of

LENGTH, MAJORITY = "length", "majority"


def baselines(project: Project, snapshot: Snapshot, seen: frozenset[int]) -> list[SetupScores]:
    """Return both baselines as evaluators that have seen the articles `seen` (codes).

    There is no majority if the pool has no labels.
    """
    outside = ~np.isin(snapshot.summaries.articles, sorted(seen))
    places = np.flatnonzero(outside)
    items = items_of(snapshot.summary_ids[places].tolist(), ())
    found = [_evaluator(LENGTH, "Length in words", seen, {GENERAL: _lengths(snapshot, items)})]
    constants = _majority(project)
    if constants:
        everywhere = {dimension: np.full(len(outside), constant) for dimension, constant in constants.items()}
        found.append(_evaluator(MAJORITY, "Majority of the pool", seen, everywhere))
    return found


def _lengths(snapshot: Snapshot, items: dict[int, Item]) -> Floats:
    scored = Length(Length.Params()).score(list(items.values()))
    by_id = {pk: each.values[GENERAL] for pk, each in zip(items, scored, strict=True)}
    return np.array([by_id.get(pk, np.nan) for pk in snapshot.summary_ids.tolist()])


def _majority(project: Project) -> dict[str, float]:
    split = split_of(project)
    if split is None:
        return {}
    labels = pool_labels(project, articles_in(split, [LabelPart.POOL]))
    majority = Majority(Majority.Params())
    try:
        majority.fit(list(pool_examples(labels, ()).values()))
    except EvaluatorError:
        return {}
    (constants,) = majority.score([Item("any", "any")])
    return dict(constants.values)


def _evaluator(key: str, label: str, seen: frozenset[int], values: dict[str, Floats]) -> SetupScores:
    return SetupScores(
        key=key,
        label=label,
        signature=key,
        fingerprint=None,
        higher_is_better=True,
        seen={EVERY_DIMENSION: seen},
        scores={
            dimension: Scores(read_only(each), (), np.full(len(each), -1))
            for dimension, each in values.items()
        },
    )
