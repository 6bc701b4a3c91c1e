"""Evaluators' scores, one column for each setup and dimension."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from annotation.models import Project
from metaeval.snapshot.arrays import Scores, SetupScores, codes, read_only
from metaeval.snapshot.changes import Changes
from metaeval.snapshot.database_rows import columns, places_of, whole_numbers
from metaeval.stats.arrays import Ints
from scoring.contract.seen import EVERY_DIMENSION
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.models import Batch, Score, SeenArticle, Setup
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.seal import tried_setups
from scoring.sealed_labels.split import articles_in, split_of

ScoresOfSetups = Mapping[int, Mapping[str, Scores]]
"""Scores by primary key of the setup and by dimension, without setups that have no row."""

MOST_ALONE = 5000  # summaries whose scores are read by their keys, of which a database takes only so many

NOWHERE = np.array([], dtype=np.int64)


def read_scores(project: Project, summary_ids: Ints, setups: Iterable[int] | None = None) -> ScoresOfSetups:
    """Return the scores of the given setups, or of all in the project."""
    found: dict[int, dict[str, Scores]] = {}
    scores = Score.objects.filter(setup__project=project)
    if setups is not None:
        scores = scores.filter(setup__in=setups)
    none = _no_scores(len(summary_ids))
    for setup_id, dimension in (
        scores.order_by("setup_id", "dimension").values_list("setup_id", "dimension").distinct()
    ):
        given = Score.objects.filter(setup=setup_id, dimension=dimension).values_list(
            "summary_id", "value", "reason"
        )
        found.setdefault(setup_id, {})[dimension] = _replaced(none, summary_ids, NOWHERE, given)
    return found


def renewed_scores(
    project: Project, summary_ids: Ints, kept: ScoresOfSetups, changes: Changes
) -> ScoresOfSetups:
    """Return `kept` updated by `changes`, reading only what changed."""
    if not changes.batches and not changes.setups:
        return kept
    rescored: dict[int, set[int]] = {}
    batches = Batch.objects.filter(pk__in=changes.batches).exclude(run__setup__in=changes.setups)
    for setup_id, ids in batches.values_list("run__setup", "summary_ids"):
        rescored.setdefault(setup_id, set()).update(ids)
    # A setup is read as a whole where a run was deleted, where it had no scores so far, and if many are new.
    many = {pk for pk, ids in rescored.items() if len(ids) > MOST_ALONE}
    whole = {*changes.setups, *(rescored.keys() - kept.keys()), *many}
    found = {pk: columns for pk, columns in kept.items() if pk not in whole}
    if whole:
        found |= read_scores(project, summary_ids, whole)
    for setup_id in rescored.keys() - whole:
        found[setup_id] = _rescored(setup_id, summary_ids, kept[setup_id], rescored[setup_id])
    return found


def _rescored(
    setup_id: int, summary_ids: Ints, kept: Mapping[str, Scores], rescored: set[int]
) -> Mapping[str, Scores]:
    rows = (
        Score.objects.filter(setup=setup_id, summary__in=rescored)
        .order_by("dimension")
        .values_list("dimension", "summary_id", "value", "reason")
    )
    given = {dimension: [row[1:] for row in column] for dimension, column in groupby(rows, itemgetter(0))}
    outdated = places_of(whole_numbers(rescored), summary_ids)
    outdated = outdated[outdated >= 0]
    none = _no_scores(len(summary_ids))
    return {
        dimension: _replaced(kept.get(dimension, none), summary_ids, outdated, given.get(dimension, ()))
        for dimension in sorted({*kept, *given})
    }


def _no_scores(n_summaries: int) -> Scores:
    return Scores(np.full(n_summaries, np.nan), (), np.full(n_summaries, -1, dtype=np.int64))


def _replaced(
    kept: Scores, summary_ids: Ints, outdated: Ints, rows: Iterable[tuple[int, float | None, str]]
) -> Scores:
    """Return `kept` with the values at the `outdated` places replaced by `rows`.

    Each row is (summary, value, reason).

    Scores of summaries that nobody is to rate are passed over.
    """
    ids, values, reasons = columns(rows, 3)
    places = places_of(whole_numbers(ids), summary_ids)
    counted = np.flatnonzero(places >= 0)
    found = kept.values.copy()
    found[outdated] = np.nan
    found[places[counted]] = np.array(values, dtype=np.float64)[counted]
    missing = [place for place in counted.tolist() if reasons[place]]
    names = sorted({*kept.reasons, *(reasons[place] for place in missing)})
    why = np.append(codes(kept.reasons, names), -1)[kept.why]  # place -1 is the last
    why[outdated] = -1
    why[places[missing]] = codes([reasons[place] for place in missing], names)
    used = np.unique(why[why >= 0])
    if len(used) < len(names):
        why = np.where(why >= 0, np.searchsorted(used, why), -1)
    return Scores(read_only(found), tuple(names[place] for place in used.tolist()), read_only(why))


class EvaluatorsRead(NamedTuple):
    evaluators: tuple[SetupScores, ...]
    """Evaluators that may be compared, by label."""
    tried: tuple[SetupScores, ...]
    """Versions of judges as their trials see them: every article outside the tuning part counts as seen."""
    without_scores: tuple[str, ...]
    """Labels of setups without a score."""


def read_evaluators(project: Project, article_ids: Ints, scores: ScoresOfSetups) -> EvaluatorsRead:
    """Return the evaluators with `scores`.

    A version of a judge is compared only once the sealed labels were opened for it. Before that, it has only
    scored the labels that chose it.
    """
    setups = list(
        Setup.objects.filter(project=project).values_list(
            "pk", "label", "signature", "fingerprint", "evaluator"
        )
    )
    opened = tried_setups(project)
    outside = _outside_tuning(project, article_ids) if opened else frozenset()
    seen: dict[int, dict[str, set[int]]] = {}
    by_setup, dimensions, articles = columns(
        SeenArticle.objects.filter(setup__project=project).values_list("setup_id", "dimension", "article_id"),
        3,
    )
    for setup_id, dimension, code in zip(
        by_setup, dimensions, places_of(whole_numbers(articles), article_ids).tolist(), strict=True
    ):
        if code >= 0:
            seen.setdefault(setup_id, {}).setdefault(dimension, set()).add(code)
    evaluators = [
        SetupScores(
            key=str(pk),
            label=label,
            signature=signature,
            fingerprint=fingerprint,
            higher_is_better=name not in EVALUATORS or load_evaluator(name).higher_is_better,
            seen={dimension: frozenset(those) for dimension, those in seen.get(pk, {}).items()},
            scores=scores[pk],
        )
        for pk, label, signature, fingerprint, name in setups
        if pk in scores
    ]
    return EvaluatorsRead(
        evaluators=tuple(each for each in evaluators if opened.get(int(each.key), True)),
        tried=tuple(
            replace(each, seen={EVERY_DIMENSION: outside}) for each in evaluators if int(each.key) in opened
        ),
        without_scores=tuple(label for pk, label, *_ in setups if pk not in scores and opened.get(pk, True)),
    )


def _outside_tuning(project: Project, article_ids: Ints) -> frozenset[int]:
    """Return the codes of the articles that trials do not use."""
    split = split_of(project)
    tuning = articles_in(split, [LabelPart.TUNING]) if split else frozenset[int]()
    return frozenset(code for code, pk in enumerate(article_ids.tolist()) if pk not in tuning)
