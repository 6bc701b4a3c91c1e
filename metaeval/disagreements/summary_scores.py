"""All labels and scores of one summary, each with its percentile."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation import protocol
from annotation.models import Summary
from metaeval.disagreements.votes import Votes, votes_on
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Floats
from metaeval.stats.scores.percentiles import percentile_of
from scoring.models import Score


@dataclass(frozen=True)
class Standing:
    """The percentile of a number among `n` summaries, from 0 to 1 (best)."""

    percentile: float
    n: int


@dataclass(frozen=True)
class LabelRow:
    question: protocol.Question
    value: float
    votes: Votes
    standing: Standing


@dataclass(frozen=True)
class ScoreRow:
    score: Score
    standing: Standing | None
    """The rank of the score; None without a score, or for a summary that is not rated, such as gold."""


@dataclass(frozen=True)
class SummaryScores:
    labels: Sequence[LabelRow]
    """One for each question with a label."""
    scores: Sequence[ScoreRow]


def summary_scores(snapshot: Snapshot, summary: Summary) -> SummaryScores:
    """Return the labels by question, and the scores by evaluator and dimension."""
    place = _place(snapshot, summary.pk)
    scores = Score.objects.filter(summary=summary).select_related("setup")
    return SummaryScores(
        labels=[] if place is None else _labels(snapshot, place),
        scores=[
            ScoreRow(score, None if place is None else _score_standing(snapshot, place, score))
            for score in scores.order_by("setup__label", "setup", "dimension")
        ],
    )


def _place(snapshot: Snapshot, summary_id: int) -> int | None:
    place = int(np.searchsorted(snapshot.summary_ids, summary_id))
    is_there = place < len(snapshot.summary_ids) and snapshot.summary_ids[place] == summary_id
    return place if is_there else None


def _labels(snapshot: Snapshot, place: int) -> list[LabelRow]:
    rows = []
    for labels, ratings in zip(snapshot.labels(), snapshot.human.questions, strict=True):
        standing = _standing(labels.values, place)
        if standing is not None:
            votes = votes_on(snapshot.human, ratings, [place])[place]
            rows.append(LabelRow(ratings.question, float(labels.values[place]), votes, standing))
    return rows


def _score_standing(snapshot: Snapshot, place: int, score: Score) -> Standing | None:
    evaluator = next((each for each in snapshot.evaluators if each.key == str(score.setup_id)), None)
    if evaluator is None or score.dimension not in evaluator.scores:
        return None  # the snapshot is older than this score
    values = evaluator.scores[score.dimension].values
    return _standing(values if evaluator.higher_is_better else -values, place)


def _standing(values: Floats, place: int) -> Standing | None:
    if np.isnan(values[place]):
        return None
    return Standing(percentile_of(float(values[place]), values), int((~np.isnan(values)).sum()))
