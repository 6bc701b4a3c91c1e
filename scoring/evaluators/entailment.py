from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import (
    ModelEvaluator,
    ModelParams,
    empty_summary_setting,
    max_length_setting,
    model_setting,
)
from scoring.texts.compared_texts import (
    against_setting,
    combined,
    compared_texts,
    long_article_setting,
    references_setting,
)
from scoring.texts.sentences import LIBRARIES, sentences_of

if TYPE_CHECKING:
    from scoring.neural.pair_classifier import PairClassifier
    from scoring.neural.text_pairs import PairGrid

Probabilities = tuple[float, ...]
"""The probability of entailment and, unless only that is measured, of contradiction."""


class Entailment(ModelEvaluator):
    """The probability that the article entails the summary, by a classifier of premise and hypothesis.

    In [0, 1], or [-1, 1] for `measure` difference. By default the whole article is the premise and the whole
    summary the hypothesis, as in the row Entailment of Table 4 in the UMSE paper. With `granularity`
    sentences it is SummaC's zero-shot form: every sentence of the summary is compared with every sentence of
    the article, its highest probabilities count, and the sentences' values are averaged. SummaC itself also
    uses `measure` difference, but leaves out sentences of ten characters or fewer and those of the article
    after the hundredth. A missing article is not scored, nor, by default, is an empty summary.
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
        "Measures only whether the summary follows from the article: a copied sentence scores best. "
        "Classifiers are trained on single sentences; whole articles are longer than their training data, "
        "and are cut at the model's limit unless read in parts or by sentences. By sentences, what follows "
        "only from several of them together counts as not entailed. The default model knows only English; "
        "for other languages choose one trained on XNLI, such as joeddav/xlm-roberta-large-xnli."
    )
    cost = (
        "One pass of the encoder over article and summary; with granularity sentences one per pair of "
        "sentences. Equal pairs in a batch are computed once."
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
        model: str = model_setting("FacebookAI/roberta-large-mnli")
        measure: str = setting(
            "entailment",
            label="Measure",
            help="Formula that turns the probabilities into a score.",
            choices={
                "entailment": "entailment",
                "ratio": "entailment ratio",
                "difference": "entailment minus contradiction",
            },
            details="ratio: entailment / (entailment + contradiction); difference: entailment - "
            "contradiction.",
        )
        against: str = against_setting("article", "Premise of the inference; the summary is the hypothesis.")
        granularity: str = setting(
            "whole",
            label="Granularity",
            help="Compare whole texts, or each summary sentence with each premise sentence.",
            choices={"whole": "whole texts", "sentences": "sentence by sentence"},
        )
        long_article: str = long_article_setting(
            "Holds for references, too. With granularity sentences always the best."
        )
        max_length: int = max_length_setting(
            512,
            "The premise alone is cut, unless the summary would leave nothing of it: then the summary gets "
            "half, or what the premise does not need. In parts the summary never gets more than that.",
        )
        references: str = references_setting("max")
        empty_summary: str = empty_summary_setting("With granularity sentences always unscored.")

    params: Params

    @property
    def scores_empty(self) -> bool:
        return super().scores_empty and self.params.granularity == "whole"

    @cached_property
    def _classifier(self) -> "PairClassifier":
        from scoring.neural.pair_classifier import PairClassifier

        labels = ("entailment",) if self.params.measure == "entailment" else ("entailment", "contradiction")
        return PairClassifier(self.folder(), self.params.precision, self.params.max_length, labels)

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

    def _grid(self, item: Item, premise: str) -> "PairGrid":
        in_parts = self.params.long_article != "cut"
        if self.params.granularity == "whole":
            return self._classifier.pairs.grid([premise], [item.summary], in_parts=in_parts)
        if self.params.against == "article":
            given = item.article_sentences
        else:
            given = item.reference_sentences if premise == item.references[0] else None
        return self._classifier.pairs.grid(
            sentences_of(premise, item.language, given),
            sentences_of(item.summary, item.language, item.summary_sentences),
            in_parts=in_parts,
        )

    def _scored(self, grids: "Sequence[PairGrid]", found: list[list[list[Probabilities | None]]]) -> Scored:
        """Return the result of one item from its grids, one per premise, and their probabilities."""
        values = []
        for rows in found:
            of_sentences = []
            for row in rows:
                read = [each for each in row if each is not None]
                if len(read) < len(row):
                    return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
                of_sentences.append(self._value(read))
            values.append(fmean(of_sentences))
        shares = [
            share
            for grid in grids
            for share in ((self.params.against, grid.premises_share), ("summary", grid.hypotheses_share))
        ]
        value = combined(values, self.params.references)
        return Scored.computed({GENERAL: value}, shares_read=shares_read(shares))

    def _value(self, read: Sequence[Probabilities]) -> float:
        """Return one hypothesis's score from its probabilities with each premise or part of one."""
        mean_of_parts = self.params.granularity == "whole" and self.params.long_article == "parts_mean"
        how = "mean" if mean_of_parts else "max"
        entailment, *others = (combined(each, how) for each in zip(*read, strict=True))
        if not others:
            return entailment
        [contradiction] = others
        if self.params.measure == "ratio":
            return entailment / (entailment + contradiction)
        return entailment - contradiction
