from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scoring.contract import (
    EMPTY_SUMMARY,
    GENERAL,
    NO_ARTICLE,
    OUT_OF_MEMORY,
    Item,
    Need,
    Scored,
    shares_read,
)
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams
from scoring.params import param
from scoring.texts.sentences import LIBRARIES, sentences
from scoring.texts.stop_words import LIST_DOC, LISTS, WORDS_DOC, chosen

if TYPE_CHECKING:
    from scoring.neural.supert import SentenceWords, Words

ONLY_STOP_WORDS = "the summary has nothing but stop words"
ONLY_STOP_WORDS_BESIDE = "the article's sentences have nothing but stop words"


class Supert(ModelEvaluator):
    """How well the summary's words match those of the article's first sentences, in an encoder's space.

    The first sentences stand in for a reference (a pseudo reference). Each sentence is encoded alone, at
    most 128 pieces of it; stop words are left out, punctuation stays. Every word of the pseudo reference is
    matched with the nearest word of the summary (recall) and the other way round (precision), by the cosine
    of their vectors; f1 joins the two. In [-1, 1], mostly 0.4 to 0.9. The authors' programs use 10, 15 or 30
    sentences, or all.

    A summary, or an article, of which stop words alone remain is not scored; the authors' code fails. An
    item has one article; scoring/neural/supert.py has the authors' rule for several documents, one pseudo
    reference each once they have 15 sentences together.
    """

    name = "supert"
    title = "SUPERT"
    version = 1
    source = (
        "Gao, Zhao and Eger 2020, SUPERT: Towards New Frontiers in Unsupervised Evaluation Metrics for "
        "Multi-Document Summarization"
    )
    formula = (
        "R = mean over reference words of max cosine, P = mean over summary words of max cosine, "
        "F1 = 2 P R / (P + R)"
    )
    weaknesses = (
        "Rewards copying the beginning of the article, and repetition costs nothing. What matters further "
        "down is missed unless all sentences are taken. Marks of punctuation count as words. Made for news, "
        "in English."
    )
    cost = "One pass of the encoder over each distinct sentence."
    weights = (
        "sentence-transformers/bert-large-nli-stsb-mean-tokens (1.3 GB); of the archive that the authors' "
        "code downloads, the folder that holds the encoder, with manage.py weights convert THAT --to FOLDER. "
        "For other languages any multilingual sentence encoder."
    )
    needs = frozenset({Need.ARTICLE})
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param(
            "sentence-transformers/bert-large-nli-stsb-mean-tokens", doc=WEIGHTS_DOC, is_weights=True
        )
        first_sentences: int = param(
            15, low=0, doc="How many of the article's sentences stand in for a reference; 0 takes all."
        )
        measure: str = param(
            "f1", choices=("f1", "precision", "recall"), doc="Which of the three is the score."
        )
        stop_list: str = param("english", choices=tuple(LISTS), doc=LIST_DOC)
        stop_words: tuple[str, ...] = param((), doc=WORDS_DOC)

    params: Params

    @cached_property
    def _words(self) -> "SentenceWords":
        from scoring.neural.supert import SentenceWords

        stop_words = chosen(self.params.stop_list, self.params.stop_words)
        return SentenceWords(self.folder(), self.params.precision, stop_words)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        from scoring.neural.supert import pseudo_references

        summaries = [_sentences(item.summary, item.summary_sentences, item.language) for item in items]
        articles = [_sentences(item.article or "", item.article_sentences, item.language) for item in items]
        references = [pseudo_references([each], self.params.first_sentences)[0] for each in articles]
        words = self._words.of(
            sentence for texts in (summaries, references) for text in texts for sentence in text
        )
        return [
            self._scored([words[each] for each in summary], [words[each] for each in reference])
            for summary, reference in zip(summaries, references, strict=True)
        ]

    def _scored(self, summary: "Sequence[Words | None]", reference: "Sequence[Words | None]") -> Scored:
        from scoring.neural.supert import agreement, joined

        if not summary or not reference:
            return Scored.unscored(self.dimensions, NO_ARTICLE if summary else EMPTY_SUMMARY)
        texts = [[each for each in text if each is not None] for text in (summary, reference)]
        if len(texts[0]) < len(summary) or len(texts[1]) < len(reference):
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        said, source = map(joined, texts)
        if not len(said.vectors):
            return Scored.unscored(self.dimensions, ONLY_STOP_WORDS)
        if not len(source.vectors):
            return Scored.unscored(self.dimensions, ONLY_STOP_WORDS_BESIDE)
        score = agreement(said, [source])[self.params.measure]
        return Scored.computed(
            {GENERAL: score},
            shares_read=shares_read([("summary", said.share_read), ("article", source.share_read)]),
        )


def _sentences(text: str, given: Sequence[str] | None, language: str | None) -> list[str]:
    """Those given, or those the built-in splitter finds; none of them blank."""
    return [each for each in (sentences(text, language) if given is None else given) if each.strip()]
