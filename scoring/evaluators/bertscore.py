import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.params import model_name
from scoring.contract.scores import NOT_FINITE, OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import ModelEvaluator, ModelParams, model_setting
from scoring.texts.compared_texts import (
    against_setting,
    combined,
    compared_texts,
    measure_setting,
    references_setting,
)
from scoring.weights.model_files import MissingWeights

if TYPE_CHECKING:
    from scoring.neural.greedy_matching import GreedyMatching, Matched

AUTHORS_LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "distilbert-base-uncased": 5,
    "distilbert-base-multilingual-cased": 5,
    "distilroberta-base": 5,
    "scibert_scivocab_uncased": 8,
    "scibert_scivocab_cased": 9,
    "deberta-base": 9,
    "deberta-base-mnli": 9,
    "deberta-large": 16,
    "deberta-large-mnli": 18,
    "deberta-xlarge": 18,
    "deberta-xlarge-mnli": 40,
    "deberta-v2-xlarge": 10,
    "deberta-v2-xlarge-mnli": 17,
    "deberta-v2-xxlarge": 21,
    "deberta-v2-xxlarge-mnli": 22,
    "electra-base-discriminator": 9,
    "electra-large-discriminator": 14,
    "mpnet-base": 8,
    "albert-base-v2": 9,
    "albert-large-v2": 14,
    "albert-xlarge-v2": 13,
    "albert-xxlarge-v2": 8,
    "longformer-base-4096": 7,
    "longformer-large-4096": 14,
    "spanbert-base-cased": 8,
    "spanbert-large-cased": 17,
}
"""Model -> the layer with the best correlation on WMT16, as in the authors' package."""

NO_WEIGHT = f"no token of the summary, or of a text it is compared with, has any weight, or {NOT_FINITE}"
BASELINE_COLUMNS = {"precision": "P", "recall": "R", "f1": "F"}


class BertScore(ModelEvaluator):
    """Similarity of the summary's tokens to the nearest tokens of a reference, or of the article.

    Similarity is the cosine of the tokens' vectors in one layer of an encoder. Precision is the average over
    the summary's tokens, recall over the other text's, f1 their harmonic mean: numbers in [-1, 1], in
    practice between 0.8 and 1 with the authors' model, unless rescaled. Special tokens can be matched but are
    not averaged over. Of several references the best counts by default, separately for each measure.

    The scores equal those of the authors' package bert-score 0.3.13, with these differences. A blank summary
    is not scored and blank references are left out (the package gives 0, which rescaling lowers below 0). A
    measure that idf leaves undefined, since no token has any weight, is not scored (nan in the package);
    references with an undefined f1 do not count for it, as in the package. Padding has no effect, so scores
    do not depend on the batch.
    """

    name = "bertscore"
    title = "BERTScore"
    version = 1
    source = "Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT"
    formula = (
        "P = mean over summary tokens of max cos(token, other's tokens); R the other way round; "
        "F1 = 2PR / (P + R)"
    )
    weaknesses = (
        "Forgives wrong numbers, names and negation among the right words. Raw values lie in a narrow "
        "range. The default model knows only English; for other languages choose a multilingual one. Text"
        " beyond the encoder's limit (512 tokens) is not read unless the article is read in parts. With "
        "idf a score depends on the other texts of the run."
    )
    cost = "One pass of the encoder, up to the layer, per distinct text."
    weights = (
        "The authors use FacebookAI/roberta-large (1.4 GB) up to layer 17 for English, "
        "google-bert/bert-base-multilingual-cased up to layer 9 for other languages, and recommend "
        "microsoft/deberta-xlarge-mnli up to layer 40. Any BERT-like encoder serves if its layer is given. "
        "Baselines for rescaling are files of the authors' repository, rescale_baseline/en/roberta-large.tsv "
        "and the like."
    )
    needs = frozenset({Need.REFERENCES})

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("FacebookAI/roberta-large")
        layer: int = setting(
            -1,
            label="Layer",
            help="Layer whose vectors are compared; -1: the authors' choice for the model.",
            low=-1,
            details="0 is the embeddings, k the output of block k. Required for models without a choice of "
            "the authors; the last layer is seldom the best.",
        )
        measure: str = measure_setting("the other text's")
        against: str = against_setting()
        references: str = references_setting("max")
        idf: bool = setting(
            False,
            label="IDF weights",
            help="Weight each token by its rarity among the compared texts.",
            phrase="IDF-weighted",
            details="ln((N + 1) / (n + 1)), where n of the N texts that the run's summaries are compared "
            "with contain the token. A text counts once for each summary.",
        )
        baseline: str = setting(
            "",
            label="Baseline table",
            help="Table for rescaling; empty: scores are not rescaled.",
            phrase="rescaled by {}",
            is_weights=True,
            details="x becomes (x - b) / (1 - b). The table is a file with the columns LAYER,P,R,F separated "
            "by commas: its path, or its name in the folder of weights.",
        )
        first_word: str = setting(
            "spaced",
            label="First word",
            help="Beginning of the first word, for RoBERTa-like tokenizers.",
            choices={"spaced": "space before the first word", "bare": "no space before the first word"},
            details="spaced: as in the authors' published numbers; bare: as with their use_fast_tokenizer.",
        )
        long_article: str = setting(
            "cut",
            label="Long articles",
            help="Way of reading an article beyond the model's limit.",
            choices={"cut": "beginning only", "parts": "all parts together"},
            phrase="long articles: {}",
            details="parts: the tokens of equal parts are matched together.",
        )

        def __post_init__(self) -> None:
            if self.layer == -1 and _name(self.model) not in AUTHORS_LAYERS:
                raise ValueError(
                    f"parameter 'layer': found -1, expected a layer of {self.model!r}, since the authors of "
                    "BERTScore chose none for it"
                )

    params: Params

    def headline(self) -> tuple[str, frozenset[str]]:
        measure = "F1" if self.params.measure == "f1" else self.params.measure
        beginning = f"BERTScore {measure}, {model_name(self.params.model)} layer {self._layer}"
        return beginning, frozenset({"measure", "model", "layer"})

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        target = Need(params.against)
        return frozenset({target, Need.CORPUS} if params.idf else {target})

    @cached_property
    def _layer(self) -> int:
        return AUTHORS_LAYERS[_name(self.params.model)] if self.params.layer == -1 else self.params.layer

    @cached_property
    def _baseline(self) -> float:
        """Return the value that rescaling brings to 0; 0 without rescaling."""
        if not self.params.baseline:
            return 0.0
        path, column = self.folder("baseline"), BASELINE_COLUMNS[self.params.measure]
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                by_layer = {int(row["LAYER"]): float(row[column]) for row in csv.DictReader(file)}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MissingWeights(
                f"{path} is no table of baselines, with columns LAYER,P,R,F and a number in each: {error}"
            ) from error
        if not by_layer.get(self._layer, nan) < 1:
            raise MissingWeights(f"{path} has no {column} below 1 for layer {self._layer}.")
        return by_layer[self._layer]

    @cached_property
    def _matching(self) -> "GreedyMatching":
        from scoring.neural.greedy_matching import GreedyMatching

        params = self.params
        matching = GreedyMatching(
            self.folder(),
            self._layer,
            params.precision,
            spaced=params.first_word == "spaced",
            parts=params.against == "article" and params.long_article == "parts",
        )
        if params.idf:
            matching.weigh_by_rarity(self._compared_texts())
        return matching

    def _compared_texts(self) -> Iterator[str]:
        """Yield the texts that the run's summaries are compared with, also blank ones, as the authors do."""
        for item in self.corpus:
            if self.params.against == "article":
                yield item.article or ""
            else:
                yield from item.references[:1] if self.params.references == "first" else item.references

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        baseline = self._baseline
        against, references = self.params.against, self.params.references
        found = self._matching.of(
            [(item.summary, tuple(compared_texts(item, against, references))) for item in items]
        )
        return [
            Scored.unscored(self.dimensions, OUT_OF_MEMORY) if each is None else self._scored(each, baseline)
            for each in found
        ]

    def _scored(self, matched: "Matched", baseline: float) -> Scored:
        value = self._value(matched)
        shares = shares_read(
            [
                ("summary", matched.summary_read),
                *((self.params.against, share) for share in matched.texts_read),
            ]
        )
        if isnan(value):
            return Scored({GENERAL: nan}, {GENERAL: NO_WEIGHT}, shares_read=shares)
        return Scored.computed({GENERAL: (value - baseline) / (1 - baseline)}, shares_read=shares)

    def _value(self, matched: "Matched") -> float:
        """Return the measure; nan if it is undefined for a text that counts."""
        if self.params.measure == "f1":
            values = list(map(_f1, matched.precisions, matched.recalls))
        else:
            values = list(matched.precisions if self.params.measure == "precision" else matched.recalls)
        if self.params.references == "mean":
            return combined(values, "mean")
        if self.params.measure == "f1":
            return max((each for each in values if not isnan(each)), default=nan)
        return nan if any(map(isnan, values)) else max(values)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _name(model: str) -> str:
    """Return the model's name without owner, folder and revision."""
    return model.partition("@")[0].rstrip("/").rpartition("/")[2]
