"""The evaluator card: may an evaluator be used for a question, at which threshold, where does it mislead?"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from metaeval.card.alternative_report import EPSILONS, AlternativeFigure, alternative_figure
from metaeval.card.level import Level, card_level
from metaeval.card.material import CardMaterial
from metaeval.ceiling import ceiling
from metaeval.pair_charts import label_span
from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import Estimate, Interval
from metaeval.stats.scores.missing_bounds import MissingBounds, missing_bounds
from metaeval.stats.scores.score_shape import ScoreShape, score_shape
from metaeval.stats.scores.system_bias import SystemBias, SystemBiases, system_bias
from metaeval.stats.scores.threshold import Threshold, threshold
from metaeval.stats.scores.trait_bias import TraitBias, trait_bias
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.uncertainty.intervals import intervals

RESAMPLES = 1000
SEED = 0
INTERVAL_OF_LEVEL = {
    "pooled": "bootstrap_articles",
    "article": "bootstrap_articles",
    "system": "bootstrap_both",
}
NEGATED = "Scores are negated first, because a lower one is better."


@dataclass(frozen=True)
class AgreementAt:
    """A coefficient at one level, with its interval."""

    level: str
    coefficient: str
    estimate: Estimate
    interval: Interval
    ceiling: Estimate
    """What one rater reaches against the others, by the same coefficient."""

    @property
    def title(self) -> str:
        return f"{COEFFICIENTS[self.coefficient].label}, {LEVELS[self.level].label}"


@dataclass(frozen=True)
class Baseline:
    """What a rule without any understanding reaches on the summaries that the evaluator has scored."""

    name: str
    estimate: Estimate
    interval: Interval
    difference: float
    """The evaluator's coefficient less the baseline's, more being better of both; nan if undefined."""
    p_value: float
    """Two-sided, of no difference; nan if undefined."""
    test: str
    """What was tested and how: full sentences."""
    reason: str
    """Why there is no difference; empty if there is one."""


@dataclass(frozen=True, eq=False)
class EvaluatorCard:
    material: CardMaterial
    agreement: tuple[AgreementAt, ...]
    """At each level of INTERVAL_OF_LEVEL."""
    baselines: tuple[Baseline, ...]
    bounds: MissingBounds
    threshold: Threshold | None
    """None where the scale has no middle to cut labels at."""
    shape: ScoreShape
    level: Level | None
    why_no_level: str
    traits: Mapping[str, TraitBias]
    """By LENGTH and COPYING."""
    systems: SystemBiases
    alternative: tuple[AlternativeFigure, ...]
    """By EPSILONS."""

    def at_level(self, level: str) -> AgreementAt:
        return next(each for each in self.agreement if each.level == level)

    @property
    def undefined(self) -> list[str]:
        """Why numbers of agreement, their intervals or ceilings are not there, each reason once."""
        reasons = (
            reason
            for each in self.agreement
            for reason in (each.estimate.reason, each.interval.reason, each.ceiling.reason)
        )
        return list(dict.fromkeys(reason for reason in reasons if reason))

    @property
    def marked_systems(self) -> list[tuple[str, SystemBias]]:
        """Names and biases of those that stand out, the most favoured first."""
        names = self.material.system_names
        marked = [(names[row.system], row) for row in self.systems.systems if row.is_marked]
        return sorted(marked, key=lambda each: -each[1].value)


def evaluator_card(material: CardMaterial) -> EvaluatorCard:
    """All numbers of the card. Does not touch the database."""
    span = label_span(material.labels.scale)
    level, why_no_level = card_level(material, resamples=RESAMPLES, seed=SEED)
    return EvaluatorCard(
        material=material,
        agreement=tuple(_measured(material, name) for name in INTERVAL_OF_LEVEL),
        baselines=_baselines(material),
        bounds=missing_bounds(
            material.coefficient, material.values, material.scores, yes_no=material.labels.is_yes_no
        ),
        threshold=None
        if span is None
        else threshold(
            material.values,
            material.scores,
            material.articles,
            cut=(span.low + span.high) / 2,
            higher_is_better=material.evaluator.higher_is_better,
            resamples=RESAMPLES,
            seed=SEED,
        ),
        shape=score_shape(material.scores),
        level=level,
        why_no_level=why_no_level,
        traits={name: _trait_bias(material, trait) for name, trait in material.traits.items()},
        systems=_system_bias(material),
        alternative=tuple(_alternative(material, epsilon) for epsilon in EPSILONS),
    )


def _trait_bias(material: CardMaterial, trait: Floats) -> TraitBias:
    bias = trait_bias(
        material.values, material.merits, trait, material.articles, resamples=RESAMPLES, seed=SEED
    )
    return replace(bias, definition=_turned(material, bias.definition))


def _system_bias(material: CardMaterial) -> SystemBiases:
    biases = system_bias(
        material.values,
        material.merits,
        material.articles,
        material.systems,
        resamples=RESAMPLES,
        seed=SEED,
    )
    return replace(biases, definition=_turned(material, biases.definition))


def _turned(material: CardMaterial, definition: str) -> str:
    return definition if material.evaluator.higher_is_better else f"{NEGATED} {definition}"


def _alternative(material: CardMaterial, epsilon: float) -> AlternativeFigure:
    figure = alternative_figure(
        material.comparison,
        material.human,
        material.ratings,
        material.evaluator,
        group=material.group,
        epsilon=epsilon,
    )
    if figure is None:
        raise KeyError(f"{material.evaluator.label} does not score {material.labels.dimension}")
    return figure


def _measured(material: CardMaterial, level: str) -> AgreementAt:
    # A system's mean label is neither yes nor no, so that its level takes ranks for every question.
    coefficient = "spearman" if level == "system" else material.coefficient
    estimate = LEVELS[level].estimate(
        COEFFICIENTS[coefficient],
        material.values,
        material.scores,
        material.articles,
        material.systems,
        yes_no=material.labels.is_yes_no,
    )
    (interval,) = _intervals(material, level, coefficient, material.scores[None])
    one_rater = ceiling(
        material.comparison.summaries,
        material.human,
        material.ratings,
        material.labels,
        material.comparison.counted & ~np.isnan(material.all_scores),
        level=level,
        coefficient=coefficient,
        group=material.group,
    )
    return AgreementAt(level, coefficient, estimate, interval, one_rater)


def _intervals(material: CardMaterial, level: str, coefficient: str, scores: Floats) -> list[Interval]:
    return intervals(
        INTERVAL_OF_LEVEL[level],
        level,
        coefficient,
        material.values,
        scores,
        material.articles,
        material.systems,
        yes_no=material.labels.is_yes_no,
        resamples=RESAMPLES,
        seed=SEED,
    )


def _baselines(material: CardMaterial) -> tuple[Baseline, ...]:
    """On the summaries with a score. A baseline is turned round where that helps it: labels chose this."""
    scored = material.scored
    yes_no = material.labels.is_yes_no
    rows = np.array([np.where(scored, trait, np.nan) for trait in material.traits.values()])
    arrays = (material.articles, material.systems)
    estimates = [
        LEVELS["pooled"].estimate(
            COEFFICIENTS[material.coefficient], material.values, row, *arrays, yes_no=yes_no
        )
        for row in rows
    ]
    none = 0.5 if material.coefficient == "roc_auc" else 0.0
    compared = compare_pairs(
        "bootstrap_articles",
        "pooled",
        material.coefficient,
        material.values,
        np.vstack([material.scores, rows]),
        *arrays,
        yes_no=yes_no,
        resamples=RESAMPLES,
        seed=SEED,
        orientation=[material.direction, *(-1 if each.value < none else 1 for each in estimates)],
    )
    found = _intervals(material, "pooled", material.coefficient, rows)
    return tuple(
        Baseline(
            name=name,
            estimate=estimate,
            interval=interval,
            difference=float(compared.differences[0, at]),
            p_value=float(compared.p_values[0, at]),
            test=compared.definition,
            reason=compared.reasons.get((0, at), ""),
        )
        for at, (name, estimate, interval) in enumerate(
            zip(material.traits, estimates, found, strict=True), start=1
        )
    )
