from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scoring.contract import GENERAL, OUT_OF_MEMORY, Item, Need, Scored, shares_read
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams, empty_summary_param
from scoring.params import param
from scoring.texts.compared_texts import (
    against_param,
    combined,
    compared_texts,
    long_article_param,
    references_param,
)
from scoring.texts.sentences import LIBRARIES, sentences_of

if TYPE_CHECKING:
    from scoring.neural.entailment import Grid, PairClassifier

Probabilities = tuple[float, float]
"""Of entailment and of contradiction."""


class Entailment(ModelEvaluator):
    """The probability that the article entails the summary, by a classifier of premise and hypothesis.

    In [0, 1], or [-1, 1] for `measure` difference. By default the whole article is the premise and the whole
    summary the hypothesis, as for the row Entailment in Table 4 of the UMSE paper. With `granularity`
    sentences it is SummaC's zero-shot form: every sentence of the summary is held against every sentence of
    the article; the highest probabilities it reaches there count, and the sentences' values are averaged.
    SummaC itself is that with `measure` difference, except that it leaves out sentences of ten characters or
    fewer and those of the article after the hundredth. A missing article is unscored, and so is an empty
    summary unless asked for.
    """

    name = "entailment"
    title = "Entailment"
    version = 1
    source = (
        "Maynez et al. 2020, On Faithfulness and Factuality in Abstractive Summarization; "
        "Laban et al. 2022, SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization"
    )
    formula = "p(entailment | premise: article, hypothesis: summary)"
    weaknesses = (
        "Says whether the summary follows from the article, not whether it is any good: a copied sentence is "
        "best. Classifiers have learnt from single sentences; whole articles are longer than anything they "
        "saw, and are cut at the model's limit unless taken in parts or by sentences. Taken by sentences, "
        "what follows only from several of them together counts as not entailed. The default model knows "
        "English only; for other languages name one trained on XNLI, such as joeddav/xlm-roberta-large-xnli."
    )
    cost = (
        "One pass of the encoder over article and summary; with granularity sentences one for each pair of "
        "their sentences. Equal pairs in a batch are computed once."
    )
    weights = (
        "Any encoder with a classification head of which one label is named entailment. Default: "
        "FacebookAI/roberta-large-mnli (1.4 GB, safetensors), SummaC's model for MNLI. UMSE's Table 4 takes "
        "its numbers from Maynez et al. 2020, who tuned a BERT-large on MNLI."
    )
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)
    needs = frozenset({Need.ARTICLE})

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param("FacebookAI/roberta-large-mnli", doc=WEIGHTS_DOC, is_weights=True)
        measure: str = param(
            "entailment",
            choices=("entailment", "ratio", "difference"),
            doc="What is made of the probabilities: entailment; entailment / (entailment + contradiction); "
            "entailment - contradiction.",
        )
        against: str = against_param("article", "The premise; the summary is the hypothesis.")
        granularity: str = param(
            "whole",
            choices=("whole", "sentences"),
            doc="Whole texts in one input, or each sentence of the summary with each of the premise's.",
        )
        over_sentences: str = param(
            "mean",
            choices=("mean", "min"),
            doc="Granularity sentences: whether the average of the summary's sentences counts, or the worst.",
        )
        long_article: str = long_article_param(
            "With granularity sentences always the highest.", "An article, or a reference,"
        )
        max_length: int = param(
            512,
            low=16,
            high=32_768,
            doc="Longest input in tokens, special ones included; less where the model allows less. The "
            "premise alone is cut, unless the summary would leave nothing of it: then the summary gets half, "
            "or what the premise does not need. Of an input in parts the summary never gets more than that.",
        )
        references: str = references_param("max")
        empty_summary: str = empty_summary_param("With granularity sentences always unscored.")

    params: Params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        return frozenset({Need(params.against)})

    @property
    def scores_empty(self) -> bool:
        return super().scores_empty and self.params.granularity == "whole"

    @cached_property
    def _classifier(self) -> "PairClassifier":
        from scoring.neural.entailment import PairClassifier

        return PairClassifier(
            self.folder(),
            self.params.precision,
            self.params.max_length,
            contradiction=self.params.measure != "entailment",
        )

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        against, references = self.params.against, self.params.references
        grids = [
            [self._grid(item, premise) for premise in compared_texts(item, against, references)]
            for item in items
        ]
        found = iter(
            self._classifier.probabilities(
                [pair for each in grids for grid in each for row in grid.rows for pair in row]
            )
        )
        return [
            self._scored(each, [[[next(found) for _ in row] for row in grid.rows] for grid in each])
            for each in grids
        ]

    def _grid(self, item: Item, premise: str) -> "Grid":
        in_parts = self.params.long_article != "cut"
        if self.params.granularity == "whole":
            return self._classifier.grid([premise], [item.summary], in_parts=in_parts)
        if self.params.against == "article":
            given = item.article_sentences
        else:
            given = item.reference_sentences if premise == item.references[0] else None
        return self._classifier.grid(
            sentences_of(premise, item.language, given),
            sentences_of(item.summary, item.language, item.summary_sentences),
            in_parts=in_parts,
        )

    def _scored(self, grids: "Sequence[Grid]", found: list[list[list[Probabilities | None]]]) -> Scored:
        """From the grids of one item, one for each premise, and what was found for their pairs."""
        values = []
        for rows in found:
            of_sentences = []
            for row in rows:
                read = [each for each in row if each is not None]
                if len(read) < len(row):
                    return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
                of_sentences.append(self._value(read))
            values.append(combined(of_sentences, self.params.over_sentences))
        shares = [
            share
            for grid in grids
            for share in ((self.params.against, grid.premises_share), ("summary", grid.hypotheses_share))
        ]
        value = combined(values, self.params.references)
        return Scored.computed({GENERAL: value}, shares_read=shares_read(shares))

    def _value(self, read: Sequence[Probabilities]) -> float:
        """Of one hypothesis, from its probabilities with each premise or part of one."""
        mean_of_parts = self.params.granularity == "whole" and self.params.long_article == "parts_mean"
        how = "mean" if mean_of_parts else "max"
        entailment, contradiction = (combined(each, how) for each in zip(*read, strict=True))
        if self.params.measure == "ratio":
            return entailment / (entailment + contradiction)
        return entailment - contradiction if self.params.measure == "difference" else entailment
