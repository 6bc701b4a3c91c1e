"""Base of the evaluators that take a label's probability from a T5 or mT5."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from annotation.declared.settings import setting
from scoring.contract.evaluator import Need
from scoring.contract.items import Item
from scoring.contract.scores import OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import (
    ModelEvaluator,
    ModelParams,
    empty_summary_setting,
    max_length_setting,
)
from scoring.texts.compared_texts import combined

if TYPE_CHECKING:
    from scoring.neural.label_probability import Judged, LabelProbability
    from scoring.neural.prompts import Share


@dataclass(frozen=True)
class LabelParams(ModelParams):
    """Common parameters; each evaluator declares its own default for `model`."""

    measure: str = setting(
        "labels",
        label="Measure",
        help="Way of reading the positive label's probability.",
        choices={
            "labels": "among the labels",
            "vocabulary": "among all tokens",
            "sequences": "by whole labels",
            "decision": "written answer",
        },
        phrase="{}",
        details="labels: probability of the positive label among the labels, by the logits of their "
        "first pieces at the first step; vocabulary: its probability among all pieces there; "
        "sequences: among the probabilities of the whole labels; decision: 1 if the model writes "
        "it, else 0.",
    )
    long_article: str = setting(
        "cut",
        label="Long articles",
        help="Way of reading an input beyond the maximum length.",
        choices={
            "cut": "beginning only",
            "cut_end": "prompt cut at its end",
            "parts_max": "best part",
            "parts_mean": "mean over parts",
        },
        phrase="long articles: {}",
        details="cut: the article's end is cut, so that the summary is read; cut_end, the public recipe: "
        "the prompt's end is cut, and with it some or all of the summary, so that the score may not "
        "describe it; parts: equal parts of the article get a prompt each (if a part has at least "
        "half of the input, else as cut).",
    )
    max_length: int = max_length_setting(2048)
    prompt: str = setting(
        "premise: {article} hypothesis: {summary}",
        label="Prompt",
        help="Text given to the model, with {article} and {summary} once each.",
    )
    labels: tuple[str, ...] = setting(
        ("0", "1"), label="Labels", help="All answers that the model was tuned to give."
    )
    positive: str = setting("1", label="Positive label", help="Label whose probability is the score.")
    empty_summary: str = empty_summary_setting()

    @property
    def asked(self) -> tuple[str, tuple[str, ...], str]:
        """The prompt, the labels and the positive one."""
        return self.prompt, self.labels, self.positive

    def __post_init__(self) -> None:
        prompt, labels, positive = self.asked
        for field in ("{article}", "{summary}"):
            if prompt.count(field) != 1:
                raise ValueError(f"parameter 'prompt': found {prompt!r}, expected {field} in it once")
        found = ",".join(labels)
        if len(labels) < 2:
            raise ValueError(f"parameter 'labels': found {found!r}, expected two or more")
        if positive not in labels:
            raise ValueError(f"parameter 'positive': found {positive!r}, expected one of the labels {found}")


class LabelEvaluator(ModelEvaluator):
    """Fills the prompt and reads the answer; a subclass declares the model and its labels."""

    needs = frozenset({Need.ARTICLE})

    params: LabelParams

    @cached_property
    def _labels(self) -> "LabelProbability":
        from scoring.neural.label_probability import LabelProbability

        _, labels, positive = self.params.asked
        return LabelProbability(self.folder(), self.params.precision, labels, positive)

    @property
    def prompts(self) -> Mapping[str, str]:
        """Dimension -> the prompt that asks about it."""
        [dimension] = self.dimensions
        return {dimension: self.params.asked[0]}

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        read = {dimension: self.read(prompt, items) for dimension, prompt in self.prompts.items()}
        return [
            self._scored({dimension: each[place] for dimension, each in read.items()})
            for place in range(len(items))
        ]

    def read(self, prompt: str, items: Sequence[Item]) -> "list[LabelAnswer]":
        """Return what the model answers to the prompt about each item."""
        from scoring.neural.prompts import Prompts

        how = self.params.long_article
        prompted = Prompts(
            self._labels.tokens, prompt, self.params.max_length, "parts" if how.startswith("parts") else how
        ).of([(item.article or "", item.summary) for item in items])
        judged = iter(self._labels.of([ids for each in prompted for ids in each.inputs], self.params.measure))
        return [LabelAnswer([next(judged) for _ in each.inputs], each.shares) for each in prompted]

    def _scored(self, readings: "Mapping[str, LabelAnswer]") -> Scored:
        values: dict[str, float | str] = {}
        written = {}
        for dimension, reading in readings.items():
            judged = [each for each in reading.judged if each is not None]
            if len(judged) < len(reading.judged):
                values[dimension] = OUT_OF_MEMORY
                continue
            values[dimension] = combined([value for value, _ in judged], self.params.long_article)
            written[dimension] = " | ".join(text for _, text in judged)
        return Scored.computed(
            values,
            explanations=written if self.params.measure == "decision" else {},
            shares_read=shares_read(share for each in readings.values() for share in each.shares),
        )


class LabelAnswer(NamedTuple):
    """A model's answer to one prompt, or to several that each have a part of the article."""

    judged: "Sequence[Judged | None]"
    """The positive label's value and the written answer; None if out of memory."""
    shares: "Sequence[Share]"
    """The shares of the texts that were read."""
