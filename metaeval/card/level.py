"""Whether an evaluator's scores are on the labels' scale, and how far off they lie there."""

from dataclasses import dataclass

import numpy as np

from annotation.labels import unit_label
from metaeval.card.material import CardMaterial
from metaeval.judgements import Labels
from metaeval.pair_charts import label_span
from metaeval.stats.arrays import Floats
from metaeval.stats.scores.level_shift import LevelShift, level_shift

GENERAL_SCORES = (
    "the evaluator's scores are general, not given on this question's dimension, so they are not meant on its"
    " scale"
)
OFF_SCALE = "scores are not on the labels' scale: some lie outside both 0 to 1 and the scale's own ends"
LOWER_IS_BETTER = "a lower score is better, so scores are not on the labels' scale"
NO_SCORE_YET = "no labelled summary has a score"
NO_ENDS = "the question's scale has no ends"
UNIT_SCALE = "Scores all lie from 0 to 1, so they are taken to be on that scale; labels are brought to it."
OWN_SCALE = (
    "Scores all lie within the labels' scale, so they are taken to be on it; both are brought to 0 to 1."
)


@dataclass(frozen=True, eq=False)
class Level:
    """Scores and labels on one scale, 0 to 1, and how far the scores lie off."""

    labels: Floats
    """(n,) of the summaries with a score."""
    scores: Floats
    shift: LevelShift
    rule: str
    """How both were brought to one scale: a sentence."""


def card_level(material: CardMaterial, *, resamples: int, seed: int) -> tuple[Level | None, str]:
    """The shift of level, or why there is none."""
    span = label_span(material.labels.scale)
    scores = material.scores[material.scored]
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
    labels = _on_unit_scale(material.labels, material.values[material.scored])
    articles = material.articles[material.scored]
    shift = level_shift(labels, scores, articles, resamples=resamples, seed=seed)
    return Level(labels, scores, shift, rule), ""


def _on_unit_scale(labels: Labels, values: Floats) -> Floats:
    """`values` of the labels' scale, which has ends, brought to 0 to 1; there is no nan among them."""
    distinct, places = np.unique(values, return_inverse=True)
    brought = [unit_label(labels.scale, float(value)) for value in distinct]
    return np.array(brought, dtype=np.float64)[places]
