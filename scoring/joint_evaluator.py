"""Base of the evaluators whose model reads a summary and the texts beside it as one sequence: UniTE, UMSE."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from scoring.contract import EMPTY_SUMMARY, OUT_OF_MEMORY, Item, Need, Scored, shares_read
from scoring.model_evaluator import ModelEvaluator, ModelParams, empty_summary_param
from scoring.params import param
from scoring.texts.compared_texts import combined, counted_references, references_param
from scoring.texts.sentences import sentences_of

if TYPE_CHECKING:
    from scoring.neural.joint_model import JointModel, Reading

BATCH = 8
"""Rows over which the authors normalise a layer when they score."""
WHOLE, SENTENCES = "whole", "sentences"
LAYER_NORM_DOC = (
    "Over what the vectors of a layer are normalised before the layers are mixed. per_item: the tokens that "
    "the model reads for this summary, so that no score depends on another summary."
)
BATCHES_DOC = (
    "batches_of_8: the tokens of eight summaries in a row, as the authors' code where it is given eight or "
    "more at a time. Scores then depend on the summaries beside: they are the authors' only for a file "
    "scored whole and in its order (manage.py score --input). An empty summary counts in its eight whether "
    "or not it is scored; one that lacks a text it needs leaves its place empty. Not for runs in a project."
)


@dataclass(frozen=True)
class JointParams(ModelParams):
    """Parameters that both have."""

    references: str = references_param("first", "The authors take the first.")
    layer_norm: str = param(
        "per_item", choices=("per_item", "batches_of_8"), doc=f"{LAYER_NORM_DOC} {BATCHES_DOC}"
    )
    empty_summary: str = empty_summary_param()


class Place(NamedTuple):
    """Where a sequence that the model reads belongs among those of its item."""

    scenario: str
    reference: int
    unit: str
    number: int


class JointEvaluator(ModelEvaluator):
    """A subclass says which scenarios are read, what an output of the model means, and loads the model."""

    beside: ClassVar[Mapping[str, tuple[str, ...]]]
    """Scenario -> texts that stand after the summary: "article", "references", in this order."""

    params: JointParams

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        """By the parameter `scenario`, which a subclass declares."""
        return frozenset(map(Need, cls.beside[params.scenario]))

    def __init__(self, params: JointParams) -> None:
        super().__init__(params)
        self.dimensions = tuple(self.units)

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Those whose scores are `fused`."""
        raise NotImplementedError

    @property
    def units(self) -> Mapping[str, str]:
        """Dimension -> whether its score is of the WHOLE summary or the mean over its SENTENCES."""
        raise NotImplementedError

    @cached_property
    def model(self) -> "JointModel":
        raise NotImplementedError

    def judged(self, outputs: Sequence[float]) -> float:
        """The score that the model's numbers for one sequence stand for."""
        raise NotImplementedError

    def fused(self, scores: Sequence[float]) -> float:
        """One score from those of `scenarios`."""
        raise NotImplementedError

    def score(self, items: Sequence[Item]) -> list[Scored]:
        asked = [self._asked(item) for item in items]
        batches: dict[Hashable, list[tuple[int, Place]]] = {}
        for index, places in enumerate(asked):
            for place in places:
                batches.setdefault(self._batch(index, place), []).append((index, place))
        read: list[dict[Place, Reading | None]] = [{} for _ in items]
        groups = [[asked[index][place] for index, place in batch] for batch in batches.values()]
        for batch, readings in zip(batches.values(), self.model.read(groups) if groups else (), strict=True):
            for (index, place), reading in zip(batch, readings, strict=True):
                read[index][place] = reading
        return [
            Scored.unscored(self.dimensions, problem)
            if (problem := self.problem(item))
            else self._scored(found)
            for item, found in zip(items, read, strict=True)
        ]

    def _asked(self, item: Item) -> dict[Place, tuple[str, ...]]:
        """The texts of each sequence that the model is to read for the item."""
        # What is left unscored as empty still counts where the authors, who score it, normalise it too.
        if self.lacking(item) or (self.problem(item) and self.params.layer_norm != "batches_of_8"):
            return {}
        texts: dict[str, tuple[str, ...]] = {WHOLE: (item.summary,)}
        if SENTENCES in self.units.values():
            texts[SENTENCES] = sentences_of(item.summary, item.language, item.summary_sentences)
        return {
            Place(scenario, reference, unit, number): (text, *beside)
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

    def _batch(self, index: int, place: Place) -> Hashable:
        """What sequences have in common that are normalised together."""
        if self.params.layer_norm != "per_item" and place.unit == SENTENCES:
            return index, place._replace(number=place.number // BATCH)
        if self.params.layer_norm == "batches_of_8":
            return index // BATCH, place
        return index, place

    def _scored(self, found: "Mapping[Place, Reading | None]") -> Scored:
        results = {unit: self._of_unit(unit, found) for unit in dict.fromkeys(self.units.values())}
        values = {dimension: results[unit] for dimension, unit in self.units.items()}
        return Scored.computed(
            {name: math.nan if isinstance(value, str) else value for name, value in values.items()},
            {name: value for name, value in values.items() if isinstance(value, str)},
            shares_read=shares_read(
                each
                for place, reading in found.items()
                if reading is not None
                for each in zip(("summary", *self.beside[place.scenario]), reading.shares, strict=True)
            ),
        )

    def _of_unit(self, unit: str, found: "Mapping[Place, Reading | None]") -> float | str:
        """The score, or why there is none."""
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
