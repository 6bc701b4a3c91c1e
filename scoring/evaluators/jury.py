import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from annotation.declared.settings import setting, value_as_text
from scoring.contract.evaluator import GENERAL, Evaluator, EvaluatorError, Member, Need
from scoring.contract.items import Item
from scoring.contract.scores import Scored

LONGEST_LIST = 80  # characters of jurors' names in the name of a jury


class Jury(Evaluator):
    """The combined judgement of several evaluators: the mean, the median or the majority of their scores.

    It uses stored scores of its members and sends no requests. Jurors vote on a dimension that they score by
    name. By default all scores must be on one scale, so an evaluator without dimensions (such as ROUGE) does
    not vote beside judges of a dimension. With `standardised`, each juror's scores are first expressed in
    standard deviations from their mean over all summaries of the run (all equal: 0), so that jurors on
    different scales weigh the same, and those without dimensions vote on every dimension.

    A summary scored by fewer jurors than the quorum gets no score, and the reason names the missing jurors.
    The explanation of a score lists each juror's score. Articles that a member has learnt from count as seen
    by the jury.
    """

    name = "jury"
    title = "Jury"
    version = 1
    source = "Verga et al. 2024, Replacing Judges with Juries"
    formula = "mean, median or share in favour over the jurors' scores"
    weaknesses = "Shared biases remain: a jury of one family of models may amount to one juror."
    cost = "No cost beyond the members' runs."
    needs = frozenset({Need.SCORES})
    dimensions: tuple[str, ...] = ()
    batch_size = 2048
    seen_reason = "a member has learnt from this article"

    @dataclass(frozen=True)
    class Params:
        members: tuple[str, ...] = setting(
            label="Jurors", help="Evaluators that have scored these summaries.", is_setup=True
        )
        how: str = setting(
            "mean",
            label="Combination",
            help="Combination of the jurors' scores.",
            choices={"mean": "mean", "median": "median", "majority": "majority"},
            details="majority: the share of jurors whose score is the threshold or more.",
        )
        quorum: int = setting(
            0, label="Quorum", help="Jurors that must have scored a summary; 0: all.", low=0
        )
        threshold: float = setting(
            0.5, label="Threshold", help="Majority: lowest score of a juror in favour."
        )
        standardised: bool = setting(
            False,
            label="Standardise",
            help="Standardise each juror's scores, for jurors on different scales.",
            phrase="standardised",
            details="In standard deviations from their mean over the run.",
        )

        def __post_init__(self) -> None:
            jurors = len(self.members)
            if jurors < 2:
                found = value_as_text(self.members)
                raise ValueError(f"parameter 'members': found {found!r}, expected two evaluators or more")
            if self.quorum > jurors:
                raise ValueError(f"parameter 'quorum': found {self.quorum}, but there are {jurors} jurors")
            if self.standardised and self.how == "majority":
                raise ValueError(
                    "parameter 'standardised': found yes, expected no with how=majority, whose threshold is "
                    "on the jurors' own scale"
                )

    params: Params

    def headline(self) -> tuple[str, frozenset[str]]:
        labels = " + ".join(member.label for member in self.members)
        jurors = labels if len(labels) <= LONGEST_LIST else str(len(self.members))
        return f"Jury of {jurors}", frozenset({"members"})

    @classmethod
    def needs_for(cls, params: Params) -> frozenset[Need]:
        return cls.needs | {Need.CORPUS} if params.standardised else cls.needs

    def use_members(self, members: Sequence[Member]) -> None:
        """Set the jurors. Raises EvaluatorError without a common dimension, or if directions differ."""
        super().use_members(members)
        falling = [each.label for each in members if not each.higher_is_better]
        if falling and not self.params.standardised:
            raise EvaluatorError(
                f"parameter 'standardised': lower scores of {', '.join(falling)} are better, so they can be "
                "combined with others only if standardised",
                permanent=True,
            )
        named = sorted({name for each in members for name in each.dimensions if name != GENERAL})
        shared = [name for name in named if len(self._jurors(name)) >= self._quorum]
        if len(self._jurors(GENERAL)) >= self._quorum and not shared:
            shared = [GENERAL]
        if not shared:
            spoken = "; ".join(f"{each.label}: {', '.join(each.dimensions)}" for each in members)
            raise EvaluatorError(
                f"parameter 'members': no dimension is scored by {self._quorum} of them ({spoken})",
                permanent=True,
            )
        self.dimensions = tuple(shared)

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if not self.dimensions:
            raise RuntimeError("jury scores only after use_members(members)")
        return [self._scored(item) for item in items]

    @property
    def _quorum(self) -> int:
        return self.params.quorum or len(self.members)

    def _jurors(self, dimension: str) -> list[tuple[Member, str]]:
        """Return the jurors on the dimension, each with the name of its own dimension that counts."""
        heard = []
        for member in self.members:
            if dimension in member.dimensions:
                heard.append((member, dimension))
            elif self.params.standardised and GENERAL in member.dimensions:
                heard.append((member, GENERAL))
        return heard

    def _scored(self, item: Item) -> Scored:
        values: dict[str, float | str] = {}
        heard: dict[str, str] = {}
        for dimension in self.dimensions:
            spoken: list[tuple[str, float]] = []
            missing = []
            for member, own in self._jurors(dimension):
                score = item.scores.get(member.name, {}).get(own)
                if score is None:
                    missing.append(member.label)
                else:
                    spoken.append((member.label, self._on_common_scale(member, own, score)))
            if len(spoken) < self._quorum:
                values[dimension] = f"no score by {', '.join(missing)}"
            else:
                values[dimension] = self._joined([score for _, score in spoken])
                said = "; ".join(f"{label}: {score:.3g}" for label, score in spoken)
                heard[dimension] = f"{len(spoken)} of {len(spoken) + len(missing)} jurors. {said}"
        return Scored.computed(values, heard)

    def _joined(self, spoken: Sequence[float]) -> float:
        if self.params.how == "majority":
            return fmean(score >= self.params.threshold for score in spoken)
        return median(spoken) if self.params.how == "median" else fmean(spoken)

    def _on_common_scale(self, member: Member, dimension: str, score: float) -> float:
        if not self.params.standardised:
            return score
        mean, deviation = self._levels[member.name, dimension]
        standardised = (score - mean) / deviation if deviation else 0.0
        return standardised if member.higher_is_better else -standardised

    @cached_property
    def _levels(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Member and dimension -> mean and standard deviation (over n) of the scores in the corpus."""
        found: dict[tuple[str, str], list[float]] = {}
        for item in self.corpus:
            for member, by_dimension in item.scores.items():
                for dimension, score in by_dimension.items():
                    found.setdefault((member, dimension), []).append(score)
        levels = {}
        for key, scores in found.items():
            mean = math.fsum(scores) / len(scores)
            squares = math.fsum((score - mean) ** 2 for score in scores)
            is_constant = min(scores) == max(scores)  # rounding must not make a spread of nothing
            levels[key] = (mean, 0.0 if is_constant else math.sqrt(squares / len(scores)))
        return levels
