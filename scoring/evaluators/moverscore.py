from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import ModelEvaluator, ModelParams, model_setting
from scoring.texts.compared_texts import (
    against_setting,
    combined,
    compared_texts,
    readable_references,
    references_setting,
)
from scoring.texts.stop_words import chosen, stop_list_setting, stop_words_setting

if TYPE_CHECKING:
    from scoring.neural.moverscore import Heap, Heaps, MoverForm

NO_WEIGHT = "no word of the summary has any weight"
NO_WEIGHT_BESIDE = "no word of the text it is compared with has any weight"


class MoverScore(ModelEvaluator):
    """Word mover's similarity: the less the summary's words must move to become the other text, the higher.

    Each text is a set of n-gram vectors weighted by the rarity of their words (idf). The earth mover's
    distance is the least work that moves one set onto the other, solved exactly. The first form (v1, the
    paper's) joins least, mean and greatest values of the last five blocks and gives 1 minus the work with
    squared distances, in [-3, 1], mostly above 0. The second (v2, the authors' faster one) takes the last
    block and gives 1 / (1 + work) with plain distances, in [1/3, 1]. The authors' code supports longer
    n-grams, and keeping word pieces, only in v1; here both forms do.

    Punctuation, stop words and pieces that continue a word are left out. Special tokens stay, but idf gives
    them no weight. Document frequencies are counted over all texts of the run, separately for summaries and
    for what they are compared with; a reference or article counts once however many summaries it has.

    A text without weight (only punctuation, stop words, or words that all texts have) is not compared: the
    authors' code gives such a summary 0 in v1 and a perfect 1 in v2. Other references replace one without
    weight. Masses are exact, as in the current version of the authors' solver (pyemd 1.1). In v2 their single
    precision leaves a distance of about 1e-4 between equal words, which is 0 here.
    """

    name = "moverscore"
    title = "MoverScore"
    version = 2
    source = (
        "Zhao, Peyrard, Liu, Gao, Meyer and Eger 2019, MoverScore: Text Generation Evaluating with "
        "Contextualized Embeddings and Earth Mover Distance; second form after the authors' moverscore_v2"
    )
    formula = (
        "v1: 1 - least work, with squared distances; v2: 1 / (1 + least work), with plain distances; "
        "least work = min over flows of sum(flow * distance)"
    )
    weaknesses = (
        "Ignores negation and who did what. With idf, a score depends on the other texts of the run. "
        "Pieces that continue a word are recognised by the ## of WordPiece vocabularies; with other "
        "encoders all pieces count. Text beyond the encoder's limit, most of a long article, is not read."
    )
    cost = (
        "One pass of the encoder per distinct text, and one transport problem of the size of the word "
        "counts per pair of texts."
    )
    weights = (
        "v1: the authors' BERT base fine-tuned on MNLI (MNLI_BERT.zip among the releases of "
        "AIPHES/emnlp19-moverscore, 440 MB, pickled: manage.py weights convert MNLI_BERT --to FOLDER); the "
        "default here is plain BERT base, whose numbers are others. v2: distilbert/distilbert-base-uncased "
        "(270 MB). Other languages: google-bert/bert-base-multilingual-cased."
    )
    needs = frozenset({Need.REFERENCES, Need.CORPUS})
    libraries = (*ModelEvaluator.libraries, "numpy", "POT")

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("google-bert/bert-base-uncased")
        form: str = setting(
            "v1",
            label="Form",
            help="The paper's form, or the authors' second: last layer and plain distances.",
            choices={"v1": "first form", "v2": "second form"},
        )
        against: str = against_setting()
        references: str = references_setting("mean")
        n_gram: int = setting(
            1,
            label="N-gram length",
            help="Number of neighbouring words that move together.",
            low=1,
            high=10,
            phrase="{}-grams",
        )
        idf: bool = setting(
            True,
            label="IDF weights",
            help="Weight words by their rarity among the texts of the run.",
            phrase="IDF-weighted",
        )
        stop_list: str = stop_list_setting("none")
        stop_words: tuple[str, ...] = stop_words_setting()
        keep_subwords: bool = setting(
            False, label="Keep subwords", help="Keep the pieces that continue a word.", phrase="with subwords"
        )
        masses: str = setting(
            "exact",
            label="Word masses",
            help="Round word masses, as in older versions of the authors' solver.",
            choices={"exact": "exact masses", "rounded": "rounded masses"},
            details="exact: as pyemd 1.1. rounded: in whole millionths, as pyemd 1.0 and before, which moves "
            "the scores of long texts by about 2e-5; gives the numbers of the parity set.",
        )

    params: Params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        other = Need(params.against)
        return frozenset({other, Need.CORPUS} if params.idf else {other})

    @cached_property
    def _form(self) -> "MoverForm":
        from scoring.neural.moverscore import FORMS

        return FORMS[self.params.form]

    @cached_property
    def _heaps(self) -> "Heaps":
        from scoring.neural.moverscore import Heaps

        stop_words = chosen(self.params.stop_list, self.params.stop_words)
        heaps = Heaps(
            self.folder(),
            self.params.precision,
            self._form,
            self.params.n_gram,
            stop_words,
            self.params.keep_subwords,
        )
        if self.params.idf:
            if not self.corpus_digest:
                raise RuntimeError(f"{self.name} scores with idf only after see_corpus(corpus)")
            heaps.count("summary", (item.summary for item in self.corpus))
            heaps.count("other", self._documents())
        return heaps

    def _documents(self) -> Iterator[str]:
        """Yield the texts that the run's summaries are compared with, those of an article once."""
        counted = set()
        for item in self.corpus:
            if self.params.against == "article":
                texts: tuple[str, ...] = () if item.article is None else (item.article,)
            elif self.params.references == "first":
                texts = tuple(readable_references(item) or item.references)[:1]
            else:
                texts = item.references
            known = hash((item.article_id, texts))
            if item.article_id is None or known not in counted:
                counted.add(known)
                yield from texts

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        wanted = [self._texts(item) for item in items]
        heaps = self._heaps.of(text for texts in wanted for text in texts)
        return [self._scored([heaps[text] for text in texts]) for texts in wanted]

    def _texts(self, item: Item) -> list[tuple[str, str]]:
        """Return the summary and what it is compared with, each with its side."""
        others = compared_texts(item, self.params.against, self.params.references)
        return [("summary", item.summary), *(("other", text) for text in others)]

    def _scored(self, heaps: "Sequence[Heap | None]") -> Scored:
        from scoring.neural.moverscore import likeness

        summary, *others = whole = [heap for heap in heaps if heap is not None]
        if len(whole) < len(heaps):
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        if summary.is_weightless:
            return Scored.unscored(self.dimensions, NO_WEIGHT)
        rounded = self.params.masses == "rounded"
        scores = [
            likeness(summary, other, self._form, rounded) for other in others if not other.is_weightless
        ]
        if not scores:
            return Scored.unscored(self.dimensions, NO_WEIGHT_BESIDE)
        return Scored.computed(
            {GENERAL: combined(scores, self.params.references)},
            shares_read=shares_read(
                [
                    ("summary", summary.share_read),
                    *((self.params.against, other.share_read) for other in others),
                ]
            ),
        )
