from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scoring.contract import GENERAL, OUT_OF_MEMORY, Item, Need, Scored, shares_read
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams
from scoring.params import param
from scoring.texts.compared_texts import (
    against_param,
    combined,
    compared_texts,
    readable_references,
    references_param,
)
from scoring.texts.stop_words import LIST_DOC, LISTS, WORDS_DOC, chosen

if TYPE_CHECKING:
    from scoring.neural.moverscore import Form, Heap, Heaps

NO_WEIGHT = "no word of the summary has any weight"
NO_WEIGHT_BESIDE = "no word of the text it is compared with has any weight"


class MoverScore(ModelEvaluator):
    """How little the summary's words must be moved, in the space of an encoder, to become the other text.

    Each text is a heap of n-gram vectors weighted by how rare their words are (idf). The earth mover's
    distance is the least work that moves one heap onto the other; it is solved exactly. The first form (v1,
    the paper's) joins least, mean and greatest values of the last five blocks and gives 1 minus the work
    with squared distances, in [-3, 1], mostly above 0. The second (v2, the authors' faster one) takes the
    last block and gives 1 / (1 + work) with plain distances, in [1/3, 1]. The authors' code knows n-grams
    beyond single words, and word pieces kept, in v1 alone; here both forms do.

    Punctuation, stop words and pieces that continue a word are left out; the special tokens stay, to which
    idf gives no weight. Document frequencies are counted over all texts of the run, apart for summaries and
    for what they are compared with; a reference or article counts once however many summaries it has.

    A text left without weight (only punctuation, stop words, or words that all texts have) is not compared:
    the authors' code gives such a summary 0 in v1 and a perfect 1 in v2. Where a reference is weightless the
    others serve. Masses are rounded to millionths as the authors' solver (pyemd 1.0) rounds them, so that
    scores equal theirs on long texts too. In v2 their single precision leaves a distance of about 1e-4
    between equal words, where ours is 0.
    """

    name = "moverscore"
    title = "MoverScore"
    version = 1
    source = (
        "Zhao, Peyrard, Liu, Gao, Meyer and Eger 2019, MoverScore: Text Generation Evaluating with "
        "Contextualized Embeddings and Earth Mover Distance; second form after the authors' moverscore_v2"
    )
    formula = (
        "v1: 1 - least work, with squared distances; v2: 1 / (1 + least work), with plain distances; "
        "least work = min over flows of sum(flow * distance)"
    )
    weaknesses = (
        "Blind to negation and to who did what. With idf, a score depends on which other texts the run has. "
        "Pieces that continue a word are known by the ## of WordPiece vocabularies; of other encoders all "
        "pieces count. What exceeds the encoder's limit, most of a long article, is not read."
    )
    cost = (
        "One pass of the encoder over each distinct text, and for each pair of texts a transport problem of "
        "the size of their word counts."
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
        model: str = param("google-bert/bert-base-uncased", doc=WEIGHTS_DOC, is_weights=True)
        form: str = param(
            "v1",
            choices=("v1", "v2"),
            doc="The paper's form, or the authors' second one: last layer only, plain distances.",
        )
        against: str = against_param()
        references: str = references_param("mean")
        n_gram: int = param(1, low=1, high=10, doc="How many neighbouring words move together.")
        idf: bool = param(
            True, doc="Weight words by how rare they are among the run's texts; otherwise all weigh the same."
        )
        stop_list: str = param("none", choices=tuple(LISTS), doc=LIST_DOC)
        stop_words: tuple[str, ...] = param((), doc=WORDS_DOC)
        keep_subwords: bool = param(False, doc="Keep the pieces that continue a word.")
        masses: str = param(
            "rounded",
            choices=("rounded", "exact"),
            doc="How much of a text each word is: in whole millionths, as the authors' solver has it, or "
            "exactly, which moves the scores of long texts by about 2e-5.",
        )

    params: Params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        other = Need(params.against)
        return frozenset({other, Need.CORPUS} if params.idf else {other})

    @cached_property
    def _form(self) -> "Form":
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
                raise RuntimeError(f"{self.name} scores with idf only after survey(corpus)")
            heaps.count("summary", (item.summary for item in self.corpus))
            heaps.count("other", self._documents())
        return heaps

    def _documents(self) -> Iterator[str]:
        """All texts that summaries of the run are compared with, those of an article once."""
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
        """The summary and what it is compared with, each with its side."""
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
