"""The shift between scores and labels, if scores are on the labels' scale."""

from dataclasses import dataclass, replace

import numpy as np

from annotation.labels import unit_label
from metaeval.card.material import CardMaterial
from metaeval.comparison.pair_charts import label_span
from metaeval.snapshot.arrays import Labels
from metaeval.stats.arrays import Floats
from metaeval.stats.rows import Resampling
from metaeval.stats.scores.level_shift import LevelShift, level_shift

GENERAL_SCORES = (
    "the evaluator's scores are general and not on this question's dimension, so they do not use its scale"
)
OFF_SCALE = "scores are not on the labels' scale: some are outside 0 to 1 and outside the scale's ends"
LOWER_IS_BETTER = "a lower score is better, so scores are not on the labels' scale"
NO_SCORE_YET = "no labelled summary has a score"
NO_ENDS = "the question's scale has no ends"
UNIT_SCALE = "All scores are from 0 to 1. Labels are rescaled to 0 to 1."
OWN_SCALE = "All scores are within the labels' scale. Both are rescaled to 0 to 1."


@dataclass(frozen=True, eq=False)
class CardLevel:
    """Scores and labels rescaled to 0 to 1, and the shift between them."""

    labels: Floats
    """(n,) of the summaries with a score."""
    scores: Floats
    shift: LevelShift
    rule: str
    """The rule by which both were rescaled, in full sentences."""


def card_level(material: CardMaterial, resampling: Resampling) -> tuple[CardLevel | None, str]:
    """Return the shift of level, or the reason why there is none."""
    span = label_span(material.labels.scale)
    rows = material.rows.at(material.scored)
    scores = rows.scores
    if material.is_general:
        return None, GENERAL_SCORES
    if not material.evaluator.higher_is_better:
        return None, LOWER_IS_BETTER
    if span is None:
        return None, NO_ENDS
    if not len(scores):
        return None, NO_SCORE_YET
    rule = UNIT_SCALE
    if scores.min() < 0 or scores.max() > 1:
        if scores.min() < span.low or scores.max() > span.high:
            return None, OFF_SCALE
        scores, rule = _on_unit_scale(material.labels, scores), OWN_SCALE
    labels = _on_unit_scale(material.labels, rows.labels)
    shift = level_shift(replace(rows, labels=labels, scores=scores), resampling)
    return CardLevel(labels, scores, shift, rule), ""


def _on_unit_scale(labels: Labels, values: Floats) -> Floats:
    """Return `values`, without nan, rescaled from the ends of the labels' scale to 0 to 1."""
    distinct, places = np.unique(values, return_inverse=True)
    rescaled = [unit_label(labels.scale, float(value)) for value in distinct]
    return np.array(rescaled, dtype=np.float64)[places]
