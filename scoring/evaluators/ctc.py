from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, nan
from typing import TYPE_CHECKING, Any

from scoring.contract import NO_REFERENCE, Item, Need, Scored, shares_read
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams, empty_summary_param
from scoring.params import param
from scoring.texts.compared_texts import readable_references
from scoring.texts.stop_words import LIST_DOC, LISTS, WORDS_DOC, chosen

if TYPE_CHECKING:
    from scoring.neural.ctc import Aligned, Aligner

CONSISTENCY, RELEVANCE = "consistency", "relevance"


class Ctc(ModelEvaluator):
    """How well the summary is grounded in the article (consistency), and the references in the summary too
    (relevance = consistency times the average of that over the references).

    An aligner scores each token of one text by how well another text supports it, and the average counts.
    Three are there: D, a classifier of words, in [0, 1]; E, the largest cosine of a token's vector to one of
    the other text, in [-1, 1]; R, a regression that gives a text one number, unbounded, so that two negative
    ones make a positive relevance.

    Without a reference there is consistency and no relevance; blank references are left out, and where one
    of the others cannot be aligned relevance is missing. An empty summary, one that has no token left
    without stop words, and for D one whose words and word pieces do not agree have no score, where the
    authors' code gives 0 or fails; R gives an empty summary an ordinary number, if asked for.
    """

    name = "ctc"
    title = "CTC"
    version = 1
    source = (
        "Deng, Tan, Liu, Xing and Hu 2021, Compression, Transduction, and Creation (EMNLP); the authors' "
        "summarisation scorer"
    )
    formula = (
        "consistency = mean align(summary -> article); relevance = consistency x mean over references of "
        "mean align(reference -> summary)"
    )
    weaknesses = (
        "The models are trained on English news. D reads the first 256 tokens of the summary and what is "
        "left of 512 for the article, R 512 of both together, E as many of each as its encoder takes: the "
        "end of a long article supports nothing. D cannot tell the words of a text with line breaks. What "
        "the product of two numbers of R means is unclear."
    )
    cost = (
        "E: one pass over each distinct text. D and R: one pass over each pair of summary and article, and "
        "of reference and summary."
    )
    weights = (
        "D and R: the authors' checkpoints for CNN/DailyMail and XSum (roberta-large, 1.4 GB each; "
        "BERT-base, 0.4 GB each), linked in their repository, one for summary and article (doc_to_summ) and "
        "one for reference and summary (summ_to_ref; CNN/DailyMail only). They are pickled and hold encoder "
        "and linear layer together: "
        "manage.py weights convert CHECKPOINT --to FOLDER --configuration ENCODER --part _roberta.=model "
        "--part _classifier.=classifier (for R: --part bert.=model --part dense.=dense). E: any BERT or "
        "RoBERTa, such as roberta-large (1.4 GB), unconverted."
    )
    needs = frozenset({Need.ARTICLE})
    dimensions: tuple[str, ...] = (CONSISTENCY, RELEVANCE)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param(
            "ctc-cnndm-doc-to-summ",
            doc="The aligner of summaries with articles; for E the only one. " + WEIGHTS_DOC,
            is_weights=True,
        )
        relevance_model: str = param(
            "",
            doc="The aligner of references with summaries, for D and R, which score no relevance without it; "
            "E takes `model` for both.",
            is_weights=True,
        )
        aligner: str = param(
            "D",
            choices=("D", "E", "R"),
            doc="D, the classifier of words (needs classifier.safetensors beside the encoder), R, the "
            "regression (dense.safetensors), or E, embeddings of any encoder.",
        )
        layer: int = param(
            17,
            low=0,
            doc="With E: the layer whose vectors are compared, 0 being the embeddings. The authors take 17 "
            "of roberta-large, 9 of bert-base-uncased and 9 of roberta-large-mnli.",
        )
        stop_list: str = param(
            "none", choices=tuple(LISTS), doc=f"{LIST_DOC} R knows no words, so nothing changes."
        )
        stop_words: tuple[str, ...] = param((), doc=WORDS_DOC)
        empty_summary: str = empty_summary_param("With aligners D and E always unscored.")

    params: Params

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        self.dimensions = (CONSISTENCY, RELEVANCE) if _scores_relevance(params) else (CONSISTENCY,)

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        return cls.needs | {Need.REFERENCES} if _scores_relevance(params) else cls.needs

    @property
    def scores_empty(self) -> bool:
        return super().scores_empty and self.params.aligner == "R"

    def problem(self, item: Item) -> str | None:
        found = super().problem(item)
        return None if found == NO_REFERENCE else found

    @cached_property
    def _consistency(self) -> "Aligner":
        return self._aligner("model")

    @cached_property
    def _relevance(self) -> "Aligner":
        return self._consistency if self.params.aligner == "E" else self._aligner("relevance_model")

    def _aligner(self, parameter: str) -> "Aligner":
        from scoring.neural.ctc import DiscriminativeAligner, EmbeddingAligner, RegressionAligner

        folder, precision = self.folder(parameter), self.params.precision
        left_out = chosen(self.params.stop_list, self.params.stop_words)
        if self.params.aligner == "E":
            return EmbeddingAligner(folder, precision, self.params.layer, left_out)
        if self.params.aligner == "D":
            return DiscriminativeAligner(folder, precision, left_out)
        return RegressionAligner(folder, precision)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        references = [readable_references(item) if RELEVANCE in self.dimensions else [] for item in items]
        grounded = self._consistency.align([(item.summary, item.article or "") for item in items])
        covered = iter(
            self._relevance.align(
                [
                    (reference, item.summary)
                    for item, each in zip(items, references, strict=True)
                    for reference in each
                ]
            )
            if any(references)
            else ()
        )
        return [
            self._scored(consistency, [next(covered) for _ in each])
            for consistency, each in zip(grounded, references, strict=True)
        ]

    def _scored(self, consistency: "Aligned", references: "list[Aligned]") -> Scored:
        values, reasons = {CONSISTENCY: consistency.value}, {CONSISTENCY: consistency.reason}
        if RELEVANCE in self.dimensions:
            failed = [each.reason for each in references if each.reason]
            reasons[RELEVANCE] = consistency.reason or (
                f"reference: {failed[0]}" if failed else "" if references else NO_REFERENCE
            )
            values[RELEVANCE] = (
                nan
                if reasons[RELEVANCE]
                else consistency.value * fsum(each.value for each in references) / len(references)
            )
        return Scored.computed(
            values,
            {dimension: reason for dimension, reason in reasons.items() if reason},
            shares_read=shares_read(
                [
                    ("article", consistency.context_read),
                    ("summary", consistency.text_read),
                    *(("summary", each.context_read) for each in references),
                    *(("references", each.text_read) for each in references),
                ]
            ),
        )


def _scores_relevance(params: Any) -> bool:
    return params.aligner == "E" or bool(params.relevance_model)
