from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import Need
from scoring.contract.items import Item
from scoring.contract.scores import (
    EMPTY_SUMMARY,
    NO_ARTICLE,
    NO_REFERENCE,
    OUT_OF_MEMORY,
    Scored,
    shares_read,
)
from scoring.evaluators.bases.model_evaluator import (
    ModelEvaluator,
    ModelParams,
    empty_summary_setting,
    max_length_setting,
    model_setting,
)
from scoring.texts.compared_texts import (
    combined,
    counted_references,
    long_article_setting,
    references_setting,
)
from scoring.texts.sentences import LIBRARIES, sentences_of

if TYPE_CHECKING:
    from scoring.neural.unieval import Input, Labelled, YesOrNo

OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class YesNoQuestion:
    """A question to the model, and the labels of the judged text and the text it is judged by.

    `by` is "article", "references" or, if the judged text stands alone, empty.
    """

    wording: str
    label: str
    by: str = ""
    by_label: str = ""
    of_sentences: bool = False


QUESTIONS = {
    "coherence": YesNoQuestion(
        "question: Is this a coherent summary to the document?", "summary:", "article", "document:"
    ),
    "consistency": YesNoQuestion(
        "question: Is this claim consistent with the document?", "claim:", "article", "document:", True
    ),
    "fluency": YesNoQuestion("question: Is this a fluent paragraph?", "paragraph:", of_sentences=True),
    "relevance": YesNoQuestion(
        "question: Is this summary relevant to the reference?", "summary:", "references", "reference:"
    ),
}
"""Dimension -> question, as in the model's training."""
MISSING = {"article": NO_ARTICLE, "references": NO_REFERENCE}


class UniEval(ModelEvaluator):
    """Coherence, consistency, fluency and relevance of a summary: a T5 model answers Yes or No.

    Each in [0, 1]: the probability of Yes against No as the first token of the answer. Coherence is judged
    from summary and article, relevance from summary and reference, consistency from each sentence and the
    article, fluency from each sentence alone; sentences are averaged. `overall` is the mean of all
    dimensions.

    Without a reference relevance has no score, without an article coherence and consistency have none, and in
    both cases `overall` has none. An empty summary has no score at all (the authors' program fails), or, on
    request, only coherence and relevance. As in the authors' program, an input is cut at its end, where
    article or reference is: a summary as long as `max_length` leaves nothing of it, and the share read shows
    this.
    """

    name = "unieval"
    title = "UniEval"
    version = 1
    source = "Zhong et al. 2022, Towards a Unified Multi-Dimensional Evaluator for Text Generation"
    formula = "sigmoid(logit of Yes - logit of No) at the first token of the answer"
    weaknesses = (
        "The authors' model was trained on English news, with bad summaries made by rules, such as "
        "exchanged sentences. Relevance depends on the one reference compared with. Fluency and "
        "consistency are judged by sentence, so problems between sentences are missed."
    )
    cost = (
        "Two passes of the encoder per summary (one more for each further reference) and two per "
        "sentence; equal inputs in a batch are computed once."
    )
    weights = (
        "MingZhong/unieval-sum (T5-large, 3 GB), a pickled file on the hub: convert it with manage.py "
        "weights convert MingZhong/unieval-sum."
    )
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)
    needs = frozenset({Need.ARTICLE, Need.REFERENCES})
    dimensions: tuple[str, ...] = (*QUESTIONS, OVERALL)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("MingZhong/unieval-sum")
        dimensions: tuple[str, ...] = setting(
            tuple(QUESTIONS),
            label="Dimensions",
            help="Questions to ask; their mean is the overall score.",
            phrase="{} only",
            details=f"Any of {', '.join(QUESTIONS)}.",
        )
        references: str = references_setting("first", "For relevance; the authors compare with one.")
        max_length: int = max_length_setting(
            1024, "More is cut from the end, where article or reference stands.", low=32
        )
        long_article: str = long_article_setting(
            "In parts, the summary gets half of an input at most, or what the article does not need."
        )
        empty_summary: str = empty_summary_setting("Consistency, fluency and so overall always unscored.")

        def __post_init__(self) -> None:
            unknown = [each for each in self.dimensions if each not in QUESTIONS]
            if unknown or not self.dimensions:
                found = ",".join(self.dimensions)
                raise ValueError(
                    f"parameter 'dimensions': found {found!r}, expected some of {', '.join(QUESTIONS)}"
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
        """Return why nothing can be scored: only the summary is needed on every dimension."""
        return EMPTY_SUMMARY if is_blank(item.summary) and not self.scores_empty else None

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

    def _inputs(self, question: YesNoQuestion, item: Item) -> "list[list[Input]]":
        """Return the inputs of each judged text, one for the article, its parts, or each reference.

        Empty if the item lacks these.
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

    def _lacks(self, question: YesNoQuestion, item: Item) -> str:
        """Return why the question cannot be asked."""
        if question.by and not self._judged_by(question.by, item):
            return MISSING[question.by]
        return EMPTY_SUMMARY

    def _judged_by(self, what: str, item: Item) -> list[str]:
        if what == "article":
            return [] if item.article is None or is_blank(item.article) else [item.article]
        return counted_references(item, self.params.references)

    def _compared(self, question: YesNoQuestion, judged: "Labelled", by: "Labelled") -> "list[Input]":
        if question.by == "article" and self.params.long_article != "cut":
            return self._model.parts(question.wording, judged, by)
        return [self._model.whole(question.wording, [judged, by])]

    def _scored(
        self,
        item: Item,
        asked: "Mapping[str, list[list[Input]]]",
        answers: Mapping[str, list[list[float | None]]],
    ) -> Scored:
        values: dict[str, float | str] = {}
        for dimension, rows in answers.items():
            question = QUESTIONS[dimension]
            read = [[each for each in row if each is not None] for row in rows]
            if not rows:
                values[dimension] = self._lacks(question, item)
            elif read != rows:
                values[dimension] = OUT_OF_MEMORY
            else:
                rule = self.params.references if question.by == "references" else self.params.long_article
                values[dimension] = fmean(combined(row, rule) for row in read)
        numbers = [value for value in values.values() if not isinstance(value, str)]
        reasons = dict.fromkeys(value for value in values.values() if isinstance(value, str))
        values[OVERALL] = ", ".join(reasons) or fmean(numbers)
        shares = (
            share
            for dimension, rows in asked.items()
            for row in rows
            for each in row
            for share in zip(("summary", QUESTIONS[dimension].by), each.shares, strict=False)
        )
        return Scored.computed(values, shares_read=shares_read(shares))
