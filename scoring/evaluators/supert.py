from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import ModelEvaluator, ModelParams, model_setting
from scoring.texts.compared_texts import measure_setting
from scoring.texts.sentences import LIBRARIES, sentences_of
from scoring.texts.stop_words import chosen, stop_list_setting, stop_words_setting

if TYPE_CHECKING:
    from scoring.neural.supert import SentenceWords, Words

ONLY_STOP_WORDS = "the summary has nothing but stop words"
ONLY_STOP_WORDS_BESIDE = "the article's sentences have nothing but stop words"


class Supert(ModelEvaluator):
    """Match of the summary's words with those of the article's first sentences, in an encoder's space.

    The first sentences replace a reference (a pseudo reference). Each sentence is encoded alone, at most 128
    pieces of it; stop words are left out, punctuation stays. Every word of the pseudo reference is matched
    with the nearest word of the summary (recall) and vice versa (precision), by the cosine of their vectors;
    f1 combines both. In [-1, 1], mostly 0.4 to 0.9. The authors' programs use 10, 15 or 30 sentences, or all.

    A summary or an article with only stop words is not scored; the authors' code fails. An item has one
    article, so the authors' rule for several documents plays no part.
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
        "Rewards copying the beginning of the article; repetition costs nothing. What comes later is "
        "missed unless all sentences are used. Punctuation counts as words. Made for news, in English."
    )
    cost = "One pass of the encoder per distinct sentence."
    weights = (
        "sentence-transformers/bert-large-nli-stsb-mean-tokens (1.3 GB); of the archive that the authors' "
        "code downloads, the folder that holds the encoder, with manage.py weights convert THAT --to FOLDER. "
        "For other languages any multilingual sentence encoder."
    )
    needs = frozenset({Need.ARTICLE})
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("sentence-transformers/bert-large-nli-stsb-mean-tokens")
        first_sentences: int = setting(
            15,
            label="Article sentences",
            help="Leading sentences that replace a reference; 0: all.",
            low=0,
            phrase="first {} sentences",
        )
        measure: str = measure_setting("the article's")
        stop_list: str = stop_list_setting("english")
        stop_words: tuple[str, ...] = stop_words_setting()

    params: Params

    @cached_property
    def _words(self) -> "SentenceWords":
        from scoring.neural.supert import SentenceWords

        stop_words = chosen(self.params.stop_list, self.params.stop_words)
        return SentenceWords(self.folder(), self.params.precision, stop_words)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        summaries = [sentences_of(item.summary, item.language, item.summary_sentences) for item in items]
        articles = [sentences_of(item.article or "", item.language, item.article_sentences) for item in items]
        references = [each[: self.params.first_sentences or None] for each in articles]
        words = self._words.of(
            sentence for texts in (summaries, references) for text in texts for sentence in text
        )
        return [
            self._scored([words[each] for each in summary], [words[each] for each in reference])
            for summary, reference in zip(summaries, references, strict=True)
        ]

    def _scored(self, summary: "Sequence[Words | None]", reference: "Sequence[Words | None]") -> Scored:
        from scoring.neural.supert import agreement, joined

        texts = [[each for each in text if each is not None] for text in (summary, reference)]
        if len(texts[0]) < len(summary) or len(texts[1]) < len(reference):
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        said, source = map(joined, texts)
        if not len(said.vectors):
            return Scored.unscored(self.dimensions, ONLY_STOP_WORDS)
        if not len(source.vectors):
            return Scored.unscored(self.dimensions, ONLY_STOP_WORDS_BESIDE)
        score = agreement(said, source)[self.params.measure]
        return Scored.computed(
            {GENERAL: score},
            shares_read=shares_read([("summary", said.share_read), ("article", source.share_read)]),
        )
