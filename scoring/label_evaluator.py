"""Base of the evaluators that ask a T5 or mT5 for a label and take its probability."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scoring.contract import OUT_OF_MEMORY, Item, Need, Scored, shares_read
from scoring.model_evaluator import ModelEvaluator, ModelParams, empty_summary_param
from scoring.params import param
from scoring.texts.compared_texts import combined

if TYPE_CHECKING:
    from scoring.neural.label_probability import Judged, LabelProbability
    from scoring.neural.prompts import Prompted, Prompts

PROMPT_DOC = "What the model is given; {article} and {summary} stand for the texts, once each."
LABELS_DOC = "All answers the model was tuned to give."
POSITIVE_DOC = "Which of the labels is the good answer, whose probability is the score."


@dataclass(frozen=True)
class LabelParams(ModelParams):
    """Parameters that all of them have; each declares its own default for `model`."""

    measure: str = param(
        "labels",
        choices=("labels", "vocabulary", "sequences", "decision"),
        doc="labels: probability of the positive label among the labels, by the logits of their first pieces "
        "at the first step; vocabulary: its probability among all pieces there; sequences: among the "
        "probabilities of the whole labels to their end; decision: 1 if the model writes it, else 0.",
    )
    long_article: str = param(
        "cut",
        choices=("cut", "cut_end", "parts_max", "parts_mean"),
        doc="An input beyond max_length: cut the article's end, so that the summary is read; cut_end, the "
        "public recipe: cut the prompt's end, and with it some or all of the summary, so that the score says "
        "little of it or nothing; or put equal parts of the article into prompts of their own, of which the "
        "highest value or the average counts (if a part has at least half of the input for itself, else "
        "cut).",
    )
    max_length: int = param(2048, low=16, high=65_536, doc="Longest input in tokens, special ones included.")
    prompt: str = param("premise: {article} hypothesis: {summary}", doc=PROMPT_DOC)
    labels: tuple[str, ...] = param(("0", "1"), doc=LABELS_DOC)
    positive: str = param("1", doc=POSITIVE_DOC)
    empty_summary: str = empty_summary_param()

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
        if len(set(labels)) < max(2, len(labels)):
            raise ValueError(f"parameter 'labels': found {found!r}, expected two or more, each once")
        if positive not in labels:
            raise ValueError(f"parameter 'positive': found {positive!r}, expected one of the labels {found}")


class LabelEvaluator(ModelEvaluator):
    """Fills the prompt and reads the answer; a subclass declares what it asks of which model."""

    needs = frozenset({Need.ARTICLE})

    params: LabelParams

    @cached_property
    def _labels(self) -> "LabelProbability":
        from scoring.neural.label_probability import LabelProbability

        _, labels, positive = self.params.asked
        return LabelProbability(self.folder(), self.params.precision, labels, positive)

    @cached_property
    def _prompts(self) -> "Prompts":
        from scoring.neural.prompts import Prompts

        prompt, *_ = self.params.asked
        how = self.params.long_article
        return Prompts(
            self._labels.tokens,
            prompt,
            self.params.max_length,
            "parts" if how.startswith("parts") else how,
        )

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        prompted = self._prompts.of([(item.article or "", item.summary) for item in items])
        judged = iter(self._labels.of([ids for each in prompted for ids in each.inputs], self.params.measure))
        return [self._scored(each, [next(judged) for _ in each.inputs]) for each in prompted]

    def _scored(self, prompted: "Prompted", judged: "list[Judged | None]") -> Scored:
        read = [each for each in judged if each is not None]
        if len(read) < len(judged):
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        values = [value for value, _ in read]
        [dimension] = self.dimensions
        written = " | ".join(text for _, text in read) if self.params.measure == "decision" else ""
        return Scored.computed(
            {dimension: combined(values, self.params.long_article)},
            explanations={dimension: written} if written else {},
            shares_read=shares_read(prompted.shares),
        )
