from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from statistics import fmean
from typing import TYPE_CHECKING, Any

from scoring.contract import (
    EMPTY_SUMMARY,
    NO_ARTICLE,
    NO_REFERENCE,
    OUT_OF_MEMORY,
    Item,
    Need,
    Scored,
    shares_read,
)
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams, empty_summary_param
from scoring.params import param
from scoring.texts.compared_texts import combined, counted_references, long_article_param, references_param
from scoring.texts.sentences import LIBRARIES, sentences_of

if TYPE_CHECKING:
    from scoring.neural.unieval import Input, Labelled, YesOrNo

OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Question:
    """What the model is asked, and what stands before the text that is judged and that it is judged by.

    `by` is "article", "references" or, where the text stands alone, empty.
    """

    wording: str
    label: str
    by: str = ""
    by_label: str = ""
    of_sentences: bool = False


QUESTIONS = {
    "coherence": Question(
        "question: Is this a coherent summary to the document?", "summary:", "article", "document:"
    ),
    "consistency": Question(
        "question: Is this claim consistent with the document?", "claim:", "article", "document:", True
    ),
    "fluency": Question("question: Is this a fluent paragraph?", "paragraph:", of_sentences=True),
    "relevance": Question(
        "question: Is this summary relevant to the reference?", "summary:", "references", "reference:"
    ),
}
"""As the model was trained with them."""
MISSING = {"article": NO_ARTICLE, "references": NO_REFERENCE}


class UniEval(ModelEvaluator):
    """Whether a summary is coherent, consistent, fluent and relevant: a T5 model is asked and says Yes or No.

    Each in [0, 1]: the probability of Yes against No as the first token of the answer. Coherence is asked of
    summary and article, relevance of summary and reference, consistency of each sentence and the article,
    fluency of each sentence alone; sentences are averaged. `overall` is the mean of all that is asked.

    Without a reference relevance has no score, without an article coherence and consistency have none, and in
    both cases `overall` has none; an empty summary has none at all (the authors' program stops at it), or
    coherence and relevance where asked for. As theirs, an input is cut at its end, where article or reference
    stands: a summary as long as `max_length` leaves nothing of it, and the share read says so.
    """

    name = "unieval"
    title = "UniEval"
    version = 1
    source = "Zhong et al. 2022, Towards a Unified Multi-Dimensional Evaluator for Text Generation"
    formula = "sigmoid(logit of Yes - logit of No) at the first token of the answer"
    weaknesses = (
        "The authors' model has learnt from English news, and its bad summaries were made by rules, such as "
        "exchanged sentences. Relevance stands and falls with the one reference compared with. Fluency and "
        "consistency are asked of sentences, so that faults between sentences escape them."
    )
    cost = (
        "Two passes of the encoder for the summary (one more for each further reference) and two for each of "
        "its sentences; equal inputs in a batch are computed once."
    )
    weights = (
        "MingZhong/unieval-sum (T5-large, 3 GB), which the hub has as a pickled file: write it anew with "
        "manage.py weights convert MingZhong/unieval-sum."
    )
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)
    needs = frozenset({Need.ARTICLE, Need.REFERENCES})
    dimensions: tuple[str, ...] = (*QUESTIONS, OVERALL)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param("MingZhong/unieval-sum", doc=WEIGHTS_DOC, is_weights=True)
        dimensions: tuple[str, ...] = param(
            tuple(QUESTIONS),
            doc=f"What is asked, and averaged as overall: {', '.join(QUESTIONS)}.",
        )
        references: str = references_param("first", "For relevance; the authors compare with one.")
        max_length: int = param(
            1024,
            low=32,
            high=32_768,
            doc="Longest input in tokens, special ones included; more is cut from its end, where article or "
            "reference stands.",
        )
        long_article: str = long_article_param(
            "In parts, the summary gets half of an input at most, or what the article does not need."
        )
        empty_summary: str = empty_summary_param("Consistency, fluency and so overall always unscored.")

        def __post_init__(self) -> None:
            unknown = [each for each in self.dimensions if each not in QUESTIONS]
            if unknown or not self.dimensions or len(set(self.dimensions)) < len(self.dimensions):
                found = ",".join(self.dimensions)
                raise ValueError(
                    f"parameter 'dimensions': found {found!r}, expected some of {', '.join(QUESTIONS)}, each "
                    "once"
                )

    params: Params

    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self.dimensions = (*params.dimensions, OVERALL)

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        asked = {QUESTIONS[dimension].by for dimension in params.dimensions}
        return frozenset(need for need in cls.needs if need.value in asked)

    def problem(self, item: Item) -> str | None:
        """Of the texts only the summary is needed on every dimension."""
        return None if item.summary.strip() or self.scores_empty else EMPTY_SUMMARY

    @cached_property
    def _model(self) -> "YesOrNo":
        from scoring.neural.unieval import YesOrNo

        return YesOrNo(self.folder(), self.params.precision, self.params.max_length)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        asked = [
            {dimension: self._inputs(QUESTIONS[dimension], item) for dimension in self.params.dimensions}
            for item in items
        ]
        answers = iter(
            self._model.probabilities(
                [each for of_item in asked for rows in of_item.values() for row in rows for each in row]
            )
        )
        return [
            self._scored(
                item,
                of_item,
                {
                    dimension: [[next(answers) for _ in row] for row in rows]
                    for dimension, rows in of_item.items()
                },
            )
            for item, of_item in zip(items, asked, strict=True)
        ]

    def _inputs(self, question: Question, item: Item) -> "list[list[Input]]":
        """For each judged text the inputs with what it is judged by: the article, its parts or references.

        Empty where the item lacks that.
        """
        texts: Sequence[str] = [item.summary]
        if question.of_sentences:
            texts = sentences_of(item.summary, item.language, item.summary_sentences)
        judged = [(question.label, text) for text in texts]
        if not question.by:
            return [[self._model.whole(question.wording, [each])] for each in judged]
        by = [(question.by_label, text) for text in self._judged_by(question.by, item)]
        return [
            [each for other in by for each in self._compared(question, one, other)] for one in judged if by
        ]

    def _lacks(self, question: Question, item: Item) -> str:
        """Why there is nothing to ask the question of."""
        if question.by and not self._judged_by(question.by, item):
            return MISSING[question.by]
        return EMPTY_SUMMARY

    def _judged_by(self, what: str, item: Item) -> list[str]:
        if what == "article":
            return [item.article] if item.article and item.article.strip() else []
        return counted_references(item, self.params.references)

    def _compared(self, question: Question, judged: "Labelled", by: "Labelled") -> "list[Input]":
        if question.by == "article" and self.params.long_article != "cut":
            return self._model.parts(question.wording, judged, by)
        return [self._model.whole(question.wording, [judged, by])]

    def _scored(
        self,
        item: Item,
        asked: "Mapping[str, list[list[Input]]]",
        answers: Mapping[str, list[list[float | None]]],
    ) -> Scored:
        values: dict[str, float] = {}
        reasons: dict[str, str] = {}
        for dimension, rows in answers.items():
            question = QUESTIONS[dimension]
            read = [[each for each in row if each is not None] for row in rows]
            if not rows:
                reasons[dimension] = self._lacks(question, item)
            elif read != rows:
                reasons[dimension] = OUT_OF_MEMORY
            else:
                rule = self.params.references if question.by == "references" else self.params.long_article
                values[dimension] = fmean(combined(row, rule) for row in read)
        if reasons:
            reasons[OVERALL] = ", ".join(dict.fromkeys(reasons.values()))
        else:
            values[OVERALL] = fmean(values.values())
        shares = (
            share
            for dimension, rows in asked.items()
            for row in rows
            for each in row
            for share in zip(("summary", QUESTIONS[dimension].by), each.shares, strict=False)
        )
        return Scored.computed(
            {dimension: values.get(dimension, nan) for dimension in self.dimensions},
            reasons,
            shares_read=shares_read(shares),
        )
