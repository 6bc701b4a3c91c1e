"""How well evaluators agree with people: the figures of the meta-evaluation page, CSV, command and API."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.models import Project
from metaeval.choices import refuse_unknown
from metaeval.judgements import ALL, Evaluator, Labels, Scores, Summaries
from metaeval.snapshot import snapshot_of
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.coefficients import COEFFICIENTS
from metaeval.stats.levels import LEVELS
from metaeval.stats.paired import NO_SCORE, TIED_LABEL
from metaeval.stats.result import Estimate

NOT_SCORED_YET = "not scored yet"
GUARD = (
    "Articles that any of the compared evaluators has seen (as examples, in training, or to choose a prompt"
    " or a threshold) are left out for all of them."
)
NAMED_IN_A_REASON = 3  # evaluators; of more than these the rest is only counted


@dataclass(frozen=True)
class MetaevalFigure:
    """One coefficient between one evaluator's scores and the human labels on one dimension."""

    evaluator: Evaluator
    labels: Labels
    level: str
    coefficient: str
    estimate: Estimate

    @property
    def definitions(self) -> tuple[str, ...]:
        """Of the number, of the label, and of what is left out for every evaluator: full sentences."""
        return self.estimate.definition, self.labels.definition, GUARD

    def as_json(self) -> dict[str, object]:
        """The row that page, API, command and export show; `reason` says why there is no value."""
        row: dict[str, object] = {
            "evaluator": self.evaluator.label,
            "fingerprint": self.evaluator.fingerprint,
            "dimension": self.labels.dimension,
            "level": self.level,
            "coefficient": self.coefficient,
            "value": None if math.isnan(self.estimate.value) else self.estimate.value,
            "low": None,
            "high": None,
            "n": self.estimate.n,
            "articles": self.estimate.articles,
            "systems": self.estimate.systems,
            "left_out": dict(self.estimate.left_out),
            "definition": " ".join(self.definitions),
        }
        if self.estimate.reason:
            row["reason"] = self.estimate.reason
        return row


@dataclass(frozen=True, eq=False)
class Pairs:
    """The summaries that have both numbers; all arrays are (n,)."""

    places: Ints
    """Places among all summaries."""
    labels: Floats
    scores: Floats
    systems: Ints
    """Places among the names of systems."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Evaluators that are compared with each other, and the summaries on which they are."""

    summaries: Summaries
    evaluators: tuple[Evaluator, ...]
    counted: Bools
    """(summaries,) those in the language, without those of articles that an evaluator has seen."""
    seen: dict[str, int]
    """Reason -> articles left out because they were seen."""

    def figure(
        self, evaluator: Evaluator, labels: Labels, level: str, coefficient: str
    ) -> MetaevalFigure | None:
        """One figure; None if the evaluator says nothing on the labels' dimension."""
        scores = evaluator.on(labels.dimension)
        if scores is None:
            return None
        estimate = LEVELS[level].estimate(
            COEFFICIENTS[coefficient],
            labels.values[self.counted],
            scores.values[self.counted],
            self.summaries.articles[self.counted],
            self.summaries.systems[self.counted],
            yes_no=labels.is_yes_no,
        )
        left_out = self.seen | self._why_unscored(estimate, labels, scores)
        return MetaevalFigure(evaluator, labels, level, coefficient, replace(estimate, left_out=left_out))

    def figures(self, labels: Sequence[Labels], level: str, coefficient: str) -> Iterator[MetaevalFigure]:
        """All figures there are: evaluator by evaluator, within it dimension by dimension."""
        for evaluator in self.evaluators:
            for each in labels:
                figure = self.figure(evaluator, each, level, coefficient)
                if figure is not None:
                    yield figure

    def pairs(self, evaluator: Evaluator, labels: Labels) -> Pairs:
        """The summaries behind a figure. Raises KeyError if the evaluator says nothing on the dimension."""
        scores = evaluator.on(labels.dimension)
        if scores is None:
            raise KeyError(f"{evaluator.label} does not score {labels.dimension}")
        both = self.counted & ~np.isnan(labels.values) & ~np.isnan(scores.values)
        return Pairs(
            np.flatnonzero(both), labels.values[both], scores.values[both], self.summaries.systems[both]
        )

    def _why_unscored(self, estimate: Estimate, labels: Labels, scores: Scores) -> dict[str, int]:
        """What was left out, the summaries without a score by the reason for it."""
        left_out = dict(estimate.left_out)
        total = left_out.pop(NO_SCORE, 0)
        unscored = self.counted & ~np.isnan(labels.values) & np.isnan(scores.values)
        if TIED_LABEL in left_out:
            unscored &= labels.values != 0.5  # these are among the tied
        reasons = scores.reasons_among(unscored)
        reasons[NOT_SCORED_YET] = total - sum(reasons.values())
        return left_out | {f"{NO_SCORE}: {why}": count for why, count in reasons.items() if count}


def metaeval_rows(
    project: Project,
    *,
    level: str = "pooled",
    coefficient: str = "spearman",
    language: str = ALL,
    group: str = "",
    evaluators: Collection[str] = (),
) -> list[dict[str, object]]:
    """Every figure of the project as it is now, as JSON values.

    `group` takes the labels of one group of raters, `evaluators` (keys, which are the setups' primary keys)
    compares these alone. Raises DomainError for anything that does not exist.
    """
    snapshot = snapshot_of(project)
    refuse_unknown("level", level, tuple(LEVELS))
    refuse_unknown("coefficient", coefficient, tuple(COEFFICIENTS))
    refuse_unknown("group", group, ("", *snapshot.human.groups))
    comparison = compare(snapshot.summaries, snapshot.evaluators, language=language, only=evaluators)
    return [figure.as_json() for figure in comparison.figures(snapshot.labels(group), level, coefficient)]


def compare(
    summaries: Summaries,
    evaluators: Sequence[Evaluator],
    *,
    language: str = ALL,
    only: Collection[str] = (),
) -> Comparison:
    """The comparison of `evaluators`, or of those whose keys are in `only`, under the contamination guard.

    Raises DomainError for a language or a key that does not exist.
    """
    refuse_unknown("language", language, (ALL, *summaries.language_names))
    keys = tuple(evaluator.key for evaluator in evaluators)
    for key in only:
        refuse_unknown("evaluator", key, keys)
    compared = tuple(evaluator for evaluator in evaluators if not only or evaluator.key in only)
    in_language = summaries.in_language(language)
    seen_by: dict[int, list[str]] = {}
    for evaluator in compared:
        for article in evaluator.seen:
            seen_by.setdefault(article, []).append(evaluator.label)
    contaminated = np.isin(summaries.articles, list(seen_by))
    seen: dict[str, int] = {}
    for article in np.unique(summaries.articles[in_language & contaminated]).tolist():
        reason = f"articles seen by {_named(seen_by[article])}"
        seen[reason] = seen.get(reason, 0) + 1
    return Comparison(summaries, compared, in_language & ~contaminated, seen)


def _named(labels: Sequence[str]) -> str:
    named = ", ".join(labels[:NAMED_IN_A_REASON])
    rest = len(labels) - NAMED_IN_A_REASON
    return f"{named} and {rest} more" if rest > 0 else named
