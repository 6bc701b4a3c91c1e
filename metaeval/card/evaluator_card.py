"""The evaluator card: can you trust an evaluator for a question, and above which score?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.labels import unit_label
from metaeval.card.alternative_report import AlternativeFigure, alternative_figures
from metaeval.card.material import CardMaterial
from metaeval.comparison.charts import label_span
from metaeval.comparison.human_ceiling import ceiling, rater_turns
from metaeval.snapshot.arrays import Labels
from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.constant_scores import coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate, each_once, reasons
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.scores.level_shift import LevelShift, level_shift
from metaeval.stats.scores.missing_bounds import MissingBounds, missing_bounds
from metaeval.stats.scores.score_shape import ScoreShape, score_shape
from metaeval.stats.scores.system_bias import SystemBias, SystemBiases, system_bias
from metaeval.stats.scores.threshold import Threshold, threshold
from metaeval.stats.scores.trait_bias import trait_bias
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.uncertainty.intervals import intervals

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


RESAMPLING = THOUSAND_RESAMPLES
INTERVAL_OF_LEVEL = {
    "pooled": "bootstrap_articles",
    "article": "bootstrap_articles",
    "system": "bootstrap_both",
}
NEGATED = "Scores are negated first, because a lower one is better."


@dataclass(frozen=True)
class AgreementAt:
    """A coefficient at one level."""

    level: str
    coefficient: str
    estimate: Estimate
    """The coefficient with its interval."""
    ceiling: Estimate
    """One rater's agreement with the others, by the same coefficient."""

    @property
    def title(self) -> str:
        return f"{COEFFICIENTS[self.coefficient].label}, {LEVELS[self.level].label}"


@dataclass(frozen=True)
class Baseline:
    """A trivial baseline on the summaries that the evaluator has scored."""

    name: str
    estimate: Estimate
    """The baseline's coefficient with its interval."""
    difference: float
    """The evaluator's coefficient minus the baseline's, higher being better for both; nan if undefined."""
    p_value: float
    """Two-sided p-value of the difference; nan if undefined."""
    test: str
    """The definition of the test, in full sentences."""
    reason: str
    """The reason why there is no difference."""


@dataclass(frozen=True, eq=False)
class EvaluatorCard:
    material: CardMaterial
    agreement: tuple[AgreementAt, ...]
    """One coefficient for each level of INTERVAL_OF_LEVEL."""
    baselines: tuple[Baseline, ...]
    bounds: MissingBounds
    threshold: Threshold | None
    """The best threshold; None if the scale has no middle to split labels at."""
    shape: ScoreShape
    level: CardLevel | None
    why_no_level: str
    traits: Mapping[str, Estimate]
    """Partial correlations with LENGTH and COPYING."""
    systems: SystemBiases
    alternative: tuple[AlternativeFigure, ...]
    """One test for each recommended margin."""

    def at_level(self, level: str) -> AgreementAt:
        return next(each for each in self.agreement if each.level == level)

    @property
    def undefined(self) -> list[str]:
        """Return why values, intervals or ceilings of agreement are missing."""
        estimates = [each for at in self.agreement for each in (at.estimate, at.ceiling)]
        return each_once(why for each in estimates for why in reasons(each.reason, each.interval).values())

    @property
    def marked_systems(self) -> list[tuple[str, SystemBias]]:
        """The names and biases of systems that stand out, the most favoured first."""
        names = self.material.system_names
        marked = [(names[row.system], row) for row in self.systems.systems if row.is_marked]
        return sorted(marked, key=lambda each: -each[1].value)


def evaluator_card(material: CardMaterial) -> EvaluatorCard:
    """Return all numbers of the card. Does not touch the database."""
    span = label_span(material.labels.scale)
    level, why_no_level = card_level(material, RESAMPLING)
    scored = material.comparison.counted & ~np.isnan(material.all_scores)
    summaries = material.comparison.summaries
    turns = rater_turns(summaries, material.human, material.ratings, material.labels, scored, material.group)
    return EvaluatorCard(
        material=material,
        agreement=tuple(_measured(material, turns, name) for name in INTERVAL_OF_LEVEL),
        baselines=_baselines(material),
        bounds=missing_bounds(material.coefficient, material.rows),
        threshold=None
        if span is None
        else threshold(
            material.rows,
            cut=(span.low + span.high) / 2,
            higher_is_better=material.evaluator.higher_is_better,
            resampling=RESAMPLING,
        ),
        shape=score_shape(material.rows.scores),
        level=level,
        why_no_level=why_no_level,
        traits={name: _trait_bias(material, trait) for name, trait in material.traits.items()},
        systems=_system_bias(material),
        alternative=alternative_figures(
            material.comparison,
            material.human,
            material.ratings,
            material.evaluator,
            group=material.group,
        ),
    )


def _trait_bias(material: CardMaterial, trait: Floats) -> Estimate:
    bias = trait_bias(material.merits, trait, RESAMPLING)
    return replace(bias, definition=_with_direction(material, bias.definition))


def _system_bias(material: CardMaterial) -> SystemBiases:
    biases = system_bias(material.merits, RESAMPLING)
    return replace(biases, definition=_with_direction(material, biases.definition))


def _with_direction(material: CardMaterial, definition: str) -> str:
    return definition if material.evaluator.higher_is_better else f"{NEGATED} {definition}"


def _measured(material: CardMaterial, turns: Sequence[Rows], level: str) -> AgreementAt:
    # A system's mean label is neither yes nor no, so ROC AUC does not apply.
    coefficient = "spearman" if level == "system" else material.coefficient
    formula = coefficient_at(level, coefficient, Method.constant)
    estimate = LEVELS[level].estimate(formula, material.rows)
    alone = material.rows.with_scores(material.rows.scores[None])
    (interval,) = intervals(
        INTERVAL_OF_LEVEL[level], level, coefficient, alone, RESAMPLING, constant=Method.constant
    )
    with_interval = replace(estimate, interval=interval)
    return AgreementAt(
        level, coefficient, with_interval, ceiling(turns, level, coefficient, rule=material.labels.rule)
    )


def _baselines(material: CardMaterial) -> tuple[Baseline, ...]:
    """Return the baselines on summaries with a score, each with the sign that helps it most."""
    traits = np.array([np.where(material.scored, trait, np.nan) for trait in material.traits.values()])
    rows = material.rows.with_scores(traits)
    estimates = LEVELS["pooled"].estimates(COEFFICIENTS[material.coefficient], rows)
    none = 0.5 if material.coefficient == "roc_auc" else 0.0
    compared = compare_pairs(
        "bootstrap_articles",
        "pooled",
        material.coefficient,
        rows.with_scores(np.vstack([material.rows.scores, traits])),
        RESAMPLING,
        orientation=[material.direction, *(-1 if each.value < none else 1 for each in estimates)],
    )
    found = intervals(INTERVAL_OF_LEVEL["pooled"], "pooled", material.coefficient, rows, RESAMPLING)
    return tuple(
        Baseline(
            name=name,
            estimate=replace(estimate, interval=interval),
            difference=float(compared.differences[0, at]),
            p_value=float(compared.p_values[0, at]),
            test=compared.definition,
            reason=compared.reasons.get((0, at), ""),
        )
        for at, (name, estimate, interval) in enumerate(
            zip(material.traits, estimates, found, strict=True), start=1
        )
    )
