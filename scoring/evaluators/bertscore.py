import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from scoring.contract import GENERAL, NOT_FINITE, OUT_OF_MEMORY, Item, Need, Scored, shares_read
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams
from scoring.params import param
from scoring.texts.compared_texts import against_param, combined, compared_texts, references_param
from scoring.weights import MissingWeights

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
"""Model -> the layer of which scores went best with people's in WMT16, as the authors' package lists them."""

NO_WEIGHT = f"no token of the summary, or of a text it is compared with, has any weight, or {NOT_FINITE}"
BASELINE_COLUMNS = {"precision": "P", "recall": "R", "f1": "F"}


class BertScore(ModelEvaluator):
    """How well the summary's tokens match those of a reference, or of the article, each with its nearest.

    Nearness is the cosine of the tokens' vectors in one layer of an encoder. Precision is the average over
    the summary's tokens, recall over the other text's, f1 their harmonic mean: numbers in [-1, 1], in
    practice between 0.8 and 1 with the authors' model, unless rescaled. Special tokens can be matched but are
    not averaged over. Of several references the best counts by default, for each measure on its own.

    The numbers are those of the authors' package bert-score 0.3.13, with these differences. A blank summary
    is not scored and blank references are left out (theirs gives 0, which rescaling takes below 0). A measure
    that idf leaves undefined, as no token has any weight, is not scored (theirs is nan); of several
    references, those for which f1 is undefined do not count for it, as with theirs. Padding plays no part, so
    scores do not depend on the batch.
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
        "Forgiving of wrong numbers, names and negation among the right words. Raw values lie in a narrow "
        "range. The default model knows English only; for other languages name a multilingual one. "
        "What exceeds the encoder's limit (512 tokens) is not read unless the article is taken in parts. "
        "With idf a score depends on the other texts of the run."
    )
    cost = "One pass of the encoder, up to the layer, over each distinct text."
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
        model: str = param("FacebookAI/roberta-large", doc=WEIGHTS_DOC, is_weights=True)
        layer: int = param(
            -1,
            low=-1,
            doc="Layer whose vectors are compared: 0 for the embeddings, k for the output of block k; -1 for "
            "the one the authors chose for the model. For models they chose none for, it must be given: "
            "the last is seldom the best.",
        )
        measure: str = param(
            "f1",
            choices=tuple(sorted(BASELINE_COLUMNS)),
            doc="Precision averages over the summary's tokens, recall over the reference's or article's, "
            "f1 is their harmonic mean.",
        )
        against: str = against_param()
        references: str = references_param("max")
        idf: bool = param(
            False,
            doc="Weigh each token by how rare it is: ln((N + 1) / (n + 1)), where n of the N texts that the "
            "run's summaries are compared with have it, a text counted for each summary that has it.",
        )
        baseline: str = param(
            "",
            is_weights=True,
            doc="Table for rescaling x to (x - b) / (1 - b): a file with columns LAYER,P,R,F separated by "
            "commas, its path or its name in the folder of weights. Empty: not rescaled.",
        )
        first_word: str = param(
            "spaced",
            choices=("spaced", "bare"),
            doc="For byte-level tokenizers (RoBERTa): the first word as within a text, with a space before "
            "it, as in the authors' published numbers; or bare, as with their use_fast_tokenizer.",
        )
        long_article: str = param(
            "cut",
            choices=("cut", "parts"),
            doc="An article beyond the encoder's limit: read its beginning only, or all of it in equal "
            "parts, whose tokens are then matched together.",
        )

        def __post_init__(self) -> None:
            if self.layer == -1 and _name(self.model) not in AUTHORS_LAYERS:
                raise ValueError(
                    f"parameter 'layer': found -1, expected a layer of {self.model!r}, since the authors of "
                    "BERTScore chose none for it"
                )

    params: Params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        target = Need(params.against)
        return frozenset({target, Need.CORPUS} if params.idf else {target})

    @cached_property
    def _layer(self) -> int:
        return AUTHORS_LAYERS[_name(self.params.model)] if self.params.layer == -1 else self.params.layer

    @cached_property
    def _baseline(self) -> float:
        """What rescaling brings to 0; 0 without rescaling."""
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
        """What the run's summaries are compared with; blank texts count as texts, as with the authors."""
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
            return Scored(
                {GENERAL: nan},
                {GENERAL: NO_WEIGHT},
                shares_read=shares,
            )
        return Scored.computed({GENERAL: (value - baseline) / (1 - baseline)}, shares_read=shares)

    def _value(self, matched: "Matched") -> float:
        """The measure, nan where it is undefined for a text that counts."""
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
    """Without owner, folder and revision."""
    return model.partition("@")[0].rstrip("/").rpartition("/")[2]
