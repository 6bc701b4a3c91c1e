"""Base of the evaluators whose model reads a summary and other texts as one sequence: UniTE, UMSE."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import EMPTY_SUMMARY, OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import ModelEvaluator, ModelParams, empty_summary_setting
from scoring.texts.compared_texts import combined, counted_references, references_setting
from scoring.texts.sentences import sentences_of

if TYPE_CHECKING:
    from scoring.neural.joint_inputs import JointOutput, JointReader

WHOLE, SENTENCES = "whole", "sentences"


@dataclass(frozen=True)
class JointParams(ModelParams):
    """Common parameters."""

    scenario: str = setting("", label="Input", help="Texts beside the summary; each evaluator has its own.")
    references: str = references_setting("first", "The authors take the first.")
    empty_summary: str = empty_summary_setting()


class SequencePlace(NamedTuple):
    """The place of a sequence among those of its item."""

    scenario: str
    reference: int
    unit: str
    number: int


class JointEvaluator(ModelEvaluator):
    """A subclass chooses the scenarios, interprets the model's outputs, and loads the model."""

    beside: ClassVar[Mapping[str, tuple[str, ...]]]
    """Scenario -> texts after the summary: "article", "references", in this order."""

    params: JointParams

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        """Return the needs of the parameter `scenario`, which a subclass declares."""
        return frozenset(map(Need, cls.beside[params.scenario]))

    def __init__(self, params: JointParams) -> None:
        super().__init__(params)
        self.dimensions = tuple(self.units)

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Scenarios whose scores are `fused`."""
        return (self.params.scenario,)

    @property
    def units(self) -> Mapping[str, str]:
        """Dimension -> whether its score is of the WHOLE summary or the mean over its SENTENCES."""
        return {GENERAL: WHOLE}

    @cached_property
    def model(self) -> "JointReader":
        raise NotImplementedError

    def batch(self, index: int, place: SequencePlace) -> Hashable:
        """Return a key shared by sequences that are normalised together: by default each alone."""
        return index, place

    def judged(self, outputs: Sequence[float]) -> float:
        """Return the score that the model's outputs for one sequence stand for."""
        return outputs[0]

    def fused(self, scores: Sequence[float]) -> float:
        """Combine the scores of `scenarios`."""
        return scores[0]

    def score(self, items: Sequence[Item]) -> list[Scored]:
        asked = [self._asked(item) for item in items]
        batches: dict[Hashable, list[tuple[int, SequencePlace]]] = {}
        for index, places in enumerate(asked):
            for place in places:
                batches.setdefault(self.batch(index, place), []).append((index, place))
        read: list[dict[SequencePlace, JointOutput | None]] = [{} for _ in items]
        groups = [
            (batch[0][1].scenario, tuple(asked[index][place] for index, place in batch))
            for batch in batches.values()
        ]
        for batch, readings in zip(batches.values(), self.model.read(groups) if groups else (), strict=True):
            for (index, place), reading in zip(batch, readings, strict=True):
                read[index][place] = reading
        return [
            Scored.unscored(self.dimensions, problem)
            if (problem := self.problem(item))
            else self._scored(found)
            for item, found in zip(items, read, strict=True)
        ]

    def _asked(self, item: Item) -> dict[SequencePlace, tuple[str, ...]]:
        """Return the texts of each sequence to read for the item."""
        if self.problem(item):
            return {}
        texts: dict[str, tuple[str, ...]] = {WHOLE: (item.summary,)}
        if SENTENCES in self.units.values():
            texts[SENTENCES] = sentences_of(item.summary, item.language, item.summary_sentences)
        return {
            SequencePlace(scenario, reference, unit, number): (text, *beside)
            for scenario in self.scenarios
            for reference, beside in enumerate(self._beside(item, self.beside[scenario]))
            for unit in dict.fromkeys(self.units.values())
            for number, text in enumerate(texts[unit])
        }

    def _beside(self, item: Item, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        article = (item.article or "",) if "article" in names else ()
        if "references" not in names:
            yield article
            return
        for reference in counted_references(item, self.params.references):
            yield (*article, reference)

    def _scored(self, found: "Mapping[SequencePlace, JointOutput | None]") -> Scored:
        results = {unit: self._of_unit(unit, found) for unit in dict.fromkeys(self.units.values())}
        return Scored.computed(
            {dimension: results[unit] for dimension, unit in self.units.items()},
            shares_read=shares_read(
                each
                for place, reading in found.items()
                if reading is not None
                for each in zip(("summary", *self.beside[place.scenario]), reading.shares, strict=True)
            ),
        )

    def _of_unit(self, unit: str, found: "Mapping[SequencePlace, JointOutput | None]") -> float | str:
        """Return the score, or the reason why there is none."""
        scores: dict[str, dict[int, list[float]]] = {}
        for place, reading in found.items():
            if place.unit == unit:
                if reading is None:
                    return OUT_OF_MEMORY
                of_reference = scores.setdefault(place.scenario, {}).setdefault(place.reference, [])
                of_reference.append(self.judged(reading.outputs))
        if not scores:
            return EMPTY_SUMMARY
        return self.fused(
            [
                combined([fmean(each) for each in scores[scenario].values()], self.params.references)
                for scenario in self.scenarios
            ]
        )
