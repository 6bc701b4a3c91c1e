"""What a judge has to beat on the tuning part: the length of the summary, and the pool's majority."""

import numpy as np

from annotation.models import Project
from metaeval.judgements import Evaluator, Scores, read_only
from metaeval.snapshot import Snapshot
from metaeval.stats.arrays import Floats
from scoring.alignment.parts import Part
from scoring.alignment.split import articles_in, split_of
from scoring.contract import GENERAL, EvaluatorError, Item
from scoring.evaluators.length import Length
from scoring.evaluators.majority import Majority
from scoring.items import items_of
from scoring.pool import pool_examples, pool_labels

LENGTH, MAJORITY = "length", "majority"


def baselines(project: Project, snapshot: Snapshot, seen: frozenset[int]) -> list[Evaluator]:
    """Both as evaluators that have seen the articles `seen` (codes), on all other summaries.

    The majority is that of the pool part's labels, and missing where that has none.
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
    labels = pool_labels(project, articles_in(split, [Part.POOL]))
    majority = Majority(Majority.Params())
    try:
        majority.fit(list(pool_examples(labels, ()).values()))
    except EvaluatorError:
        return {}
    (constants,) = majority.score([Item("any", "any")])
    return dict(constants.values)


def _evaluator(key: str, label: str, seen: frozenset[int], values: dict[str, Floats]) -> Evaluator:
    return Evaluator(
        key=key,
        label=label,
        signature=key,
        fingerprint=None,
        higher_is_better=True,
        seen=seen,
        scores={
            dimension: Scores(read_only(each), (), np.full(len(each), -1))
            for dimension, each in values.items()
        },
    )
