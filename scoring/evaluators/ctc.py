from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any

from annotation.declared.settings import setting
from scoring.contract.evaluator import Need
from scoring.contract.items import Item
from scoring.contract.scores import NO_REFERENCE, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import (
    ModelEvaluator,
    ModelParams,
    empty_summary_setting,
    model_setting,
)
from scoring.texts.compared_texts import readable_references
from scoring.texts.stop_words import chosen, stop_list_setting, stop_words_setting

if TYPE_CHECKING:
    from scoring.neural.ctc import Aligned, Aligner

CONSISTENCY, RELEVANCE = "consistency", "relevance"


class Ctc(ModelEvaluator):
    """The article's support for the summary (consistency), and the summary's for the references (relevance).

    Relevance is consistency times the average support of the references by the summary. An aligner scores
    each token of one text by how well another text supports it, and the average counts. There are three
    aligners: D, a classifier of words, in [0, 1]; E, the largest cosine of a token's vector to one of the
    other text, in [-1, 1]; R, a regression that gives one unbounded number per text, so that two negative
    ones give a positive relevance.

    Without a reference there is no relevance. Blank references are left out, and if one of the others cannot
    be aligned relevance is missing. Not scored are an empty summary, one without tokens other than stop
    words, and for D one whose words and word pieces disagree; the authors' code gives 0 or fails. R can score
    an empty summary.
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
        "The models are trained on English news. D reads the first 256 tokens of the summary and fills 512 "
        "with the article, R reads 512 of both together, E as many of each as its encoder takes: the end of "
        "a long article is ignored. D cannot separate the words of a text with line breaks. The product of "
        "two scores of R has no clear meaning."
    )
    cost = (
        "E: one pass per distinct text. D and R: one pass per pair of summary and article, and of "
        "reference and summary."
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
        model: str = model_setting(
            "ctc-cnndm-doc-to-summ", help="Aligner of summaries with articles; for aligner E the only model."
        )
        relevance_model: str = setting(
            "",
            label="Relevance model",
            help="Aligner of references with summaries, for aligners D and R.",
            is_weights=True,
            details="Without it D and R do not score relevance; E takes `model` for both.",
        )
        aligner: str = setting(
            "D",
            label="Aligner",
            help="Method that aligns words with the other text.",
            choices={"D": "classifier (D)", "E": "embeddings (E)", "R": "regression (R)"},
            details="D needs classifier.safetensors beside the encoder, R dense.safetensors; E takes "
            "any encoder.",
        )
        layer: int = setting(
            17,
            label="Layer",
            help="Aligner E: layer whose vectors are compared; 0: the embeddings.",
            low=0,
            details="The authors take 17 of roberta-large, 9 of bert-base-uncased and 9 of "
            "roberta-large-mnli.",
        )
        stop_list: str = stop_list_setting("none", "R knows no words, so nothing changes.")
        stop_words: tuple[str, ...] = stop_words_setting()
        empty_summary: str = empty_summary_setting("With aligners D and E always unscored.")

    params: Params

    def headline(self) -> tuple[str, frozenset[str]]:
        return f"CTC-{self.params.aligner}", frozenset({"aligner"})

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
        values: dict[str, float | str] = {CONSISTENCY: consistency.reason or consistency.value}
        if RELEVANCE in self.dimensions:
            values[RELEVANCE] = consistency.reason or self._relevance_of(consistency.value, references)
        return Scored.computed(
            values,
            shares_read=shares_read(
                [
                    ("article", consistency.context_read),
                    ("summary", consistency.text_read),
                    *(("summary", each.context_read) for each in references),
                    *(("references", each.text_read) for each in references),
                ]
            ),
        )

    @staticmethod
    def _relevance_of(consistency: float, references: "Sequence[Aligned]") -> float | str:
        for each in references:
            if each.reason:
                return f"reference: {each.reason}"
        if not references:
            return NO_REFERENCE
        return consistency * fsum(each.value for each in references) / len(references)


def _scores_relevance(params: Any) -> bool:
    return params.aligner == "E" or bool(params.relevance_model)
