"""The figures of a learning curve: by question its shares, its comparators, and from where it is better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metaeval.learning_curves.following import FollowedModel
from metaeval.learning_curves.material import CurveQuestion
from metaeval.learning_curves.statistics import CurveStatistics
from metaeval.snapshot.arrays import Labels
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate, Result, or_none, reasons, value_and_ends

RATER = "One rater"
LOWER_IS_BETTER = "lower is better: scores negated"


@dataclass(frozen=True)
class ShareFigure:
    """The models of one share."""

    share: str
    """The share in words."""
    examples: int
    """Training examples, the mean over the models, rounded."""
    models: Sequence[tuple[FollowedModel, Estimate]]
    estimate: Estimate
    """The mean over the models, with its interval."""


@dataclass(frozen=True)
class ComparatorFigure:
    """A comparator of the models: an evaluator, or one rater."""

    name: str
    estimate: Estimate
    differences: Sequence[Result]
    """Differences of each share's mean from this comparator."""

    @property
    def better_from(self) -> int | None:
        """The first share from which on every difference's interval is above 0; None if there is none."""
        above = [_is_above(each) for each in self.differences]
        if not above or not above[-1]:
            return None
        return next(place for place in range(len(above)) if all(above[place:]))

    @property
    def is_worse_to_the_end(self) -> bool:
        """Return whether the interval of the largest share's difference is below 0."""
        last = self.differences[-1].interval if self.differences else None
        return last is not None and last.high < 0

    @property
    def reason(self) -> str:
        """Return why the difference of the largest share has no interval; else empty."""
        last = self.differences[-1]
        return last.reason or (last.interval.reason if last.interval else "")


@dataclass(frozen=True)
class CurveFigures:
    """All figures on one question, by the same summaries."""

    labels: Labels
    shares: Sequence[ShareFigure]
    comparators: Sequence[ComparatorFigure]
    """Evaluators, then one rater."""
    n: int
    """Summaries with a label and the scores of all."""
    articles: int
    left_out: Mapping[str, int]
    method: Method

    @property
    def chart_name(self) -> str:
        """The name of its chart, a slug."""
        return f"curve-{self.labels.key}"

    @property
    def definitions(self) -> list[str]:
        """Full sentences on all numbers."""
        results = [
            *(each.estimate for each in self.shares),
            *(each.estimate for each in self.comparators),
            *(difference for each in self.comparators for difference in each.differences),
        ]
        return [
            sentence
            for result in results
            for sentence in (result.definition, result.interval.definition if result.interval else "")
        ] + [self.labels.definition]

    def verdict(self, other: ComparatorFigure, examples: str) -> str:
        """Return from how many `examples` (in the plural) on the models are better, in a sentence."""
        compared = f"Compared with {'one rater' if other.name == RATER else other.name}:"
        most = f"{self.shares[-1].examples:,} {examples}"
        if other.reason:
            return f"{compared} undefined ({other.reason})."
        if other.better_from is not None:
            first = self.shares[other.better_from]
            return f"{compared} better from {first.examples:,} {examples} on ({first.share})."
        if other.is_worse_to_the_end:
            return f"{compared} worse with {most}."
        return f"{compared} not shown to be better with {most}."

    def rows(self) -> list[dict[str, object]]:
        """Return each share and comparator as a row of a file."""
        return [
            *(
                {
                    **self._begun(f"{each.share} ({each.examples:,})"),
                    "share": each.share,
                    "examples": each.examples,
                    "models": len(each.models),
                    **self._measured(each.estimate),
                }
                for each in self.shares
            ),
            *(
                {
                    **self._begun(each.name),
                    "share": None,
                    "examples": None,
                    "models": None,
                    **self._measured(each.estimate),
                }
                for each in self.comparators
            ),
        ]

    def difference_rows(self) -> list[dict[str, object]]:
        """Return the difference of each share from each comparator as a row of a file."""
        return [
            {
                "dimension": self.labels.dimension,
                "share": share.share,
                "examples": share.examples,
                "other": other.name,
                "level": self.method.level,
                "coefficient": self.method.coefficient,
                **value_and_ends(difference.value, difference.interval),
                "is_better": _is_above(difference),
                "definition": _definition(difference),
                **reasons(difference.reason, difference.interval),
            }
            for other in self.comparators
            for share, difference in zip(self.shares, other.differences, strict=True)
        ]

    def model_rows(self) -> list[dict[str, object]]:
        """Return each model as a row of a file."""
        return [
            {
                "dimension": self.labels.dimension,
                "share": share.share,
                "seed": each.model.seed,
                "examples": each.model.examples,
                "training": each.training.name,
                "level": self.method.level,
                "coefficient": self.method.coefficient,
                "value": or_none(estimate.value),
                "n": estimate.n,
                **reasons(estimate.reason, None),
            }
            for share in self.shares
            for each, estimate in share.models
        ]

    def _begun(self, name: str) -> dict[str, object]:
        return {"name": name, "dimension": self.labels.dimension}

    def _measured(self, estimate: Estimate) -> dict[str, object]:
        return {
            "level": self.method.level,
            "coefficient": self.method.coefficient,
            **value_and_ends(estimate.value, estimate.interval),
            "n": estimate.n,
            "articles": estimate.articles,
            "left_out": dict(self.left_out),
            "definition": " ".join([_definition(estimate), self.labels.definition]),
            **reasons(estimate.reason, estimate.interval),
        }


def curve_figures(question: CurveQuestion, found: CurveStatistics, method: Method) -> CurveFigures:
    """Return the question's figures with names."""
    places = question.rows.shares
    return CurveFigures(
        labels=question.labels,
        shares=[
            ShareFigure(
                members[0].share,
                round(sum(each.model.examples for each in members) / len(members)),
                [(each, found.models[place]) for each, place in zip(members, own, strict=True)],
                estimate,
            )
            for members, own, estimate in zip(question.models, places, found.shares, strict=True)
        ],
        comparators=[
            *(
                ComparatorFigure(
                    each.label if each.higher_is_better else f"{each.label} ({LOWER_IS_BETTER})",
                    estimate,
                    differences,
                )
                for each, estimate, differences in zip(
                    question.others, found.others, found.over_others, strict=True
                )
            ),
            ComparatorFigure(RATER, found.rater, found.over_rater),
        ],
        n=len(question.rows.rows),
        articles=len(set(question.rows.rows.articles.tolist())),
        left_out=question.left_out,
        method=method,
    )


def _is_above(difference: Result) -> bool:
    return difference.interval is not None and difference.interval.low > 0


def _definition(result: Result) -> str:
    return " ".join(filter(None, (result.definition, result.interval.definition if result.interval else "")))
