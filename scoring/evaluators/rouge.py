import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import GENERAL, Evaluator, Need
from scoring.contract.items import Item
from scoring.contract.scores import EMPTY_SUMMARY, NO_ARTICLE, NO_REFERENCE, Scored
from scoring.texts.compared_texts import against_setting, combined, measure_setting, references_setting
from scoring.texts.overlap import VARIANTS, Prepared, Text
from scoring.texts.tokens import Tokenizer, lost_all_letters, rouge_score_words, stemmed, unicode_words

Sentences = tuple[str, ...]
"""The sentences of a text; the whole text as one where sentences do not matter."""


class Rouge(Evaluator):
    """Word overlap with the references, or with the article: a number in [0, 1].

    ROUGE-1 and ROUGE-2 count common words and word pairs, ROUGE-L the longest common subsequence of words,
    ROUGE-Lsum the union of the longest common subsequences of sentences. With default tokens the scores equal
    those of the Python package rouge-score 0.1.2, in which ROUGE-2 of a single word is 0.

    Blank references are left out. Not scored are an empty summary (0 in the package), and a summary that has
    no words under `tokens`, or is compared with a text without words.
    """

    name = "rouge"
    title = "ROUGE"
    version = 1
    source = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries"
    formula = "overlap / words of the reference (recall), / words of the summary (precision), 2PR / (P + R)"
    weaknesses = (
        "Counts words, not meanings: paraphrases score low, and false statements in the article's words "
        "score high. Scores with different tokens or stemming cannot be compared."
    )
    cost = "Thousands of summaries a second."
    needs = frozenset({Need.REFERENCES})
    batch_size = 2048

    @dataclass(frozen=True)
    class Params:
        variant: str = setting(
            "L",
            label="Variant",
            help="Words, word pairs, or the longest common subsequence (Lsum: by sentence).",
            choices={"1": "ROUGE-1", "2": "ROUGE-2", "L": "ROUGE-L", "Lsum": "ROUGE-Lsum"},
        )
        measure: str = measure_setting("the other text's")
        against: str = against_setting()
        references: str = references_setting("max", "The best is chosen by F1, whatever the measure.")
        tokens: str = setting(
            "rouge_score",
            label="Words",
            help="Letters and digits that make up a word.",
            choices={"rouge_score": "English words", "unicode": "words in any script"},
            details="rouge_score: a-z and 0-9 only, all else separates words; unicode: letters and digits of "
            "any script, separated by spaces or punctuation.",
        )
        stem: bool = setting(
            False,
            label="Stemming",
            help="Compare Porter stems instead of words; English only.",
            phrase="stemmed",
            details="Words of up to 3 letters stay as they are. Not with tokens=unicode.",
        )
        sentences: str = setting(
            "newline",
            label="Sentence boundaries",
            help="Where ROUGE-Lsum splits a text whose sentences are not given.",
            choices={"newline": "line breaks", "period": "spaced full stops"},
            phrase="sentences split at {}",
            details="newline: as rouge-score does; period: at ' . ', for tokenised text as in SummEval. A "
            "text that is not split is one sentence.",
        )

        def __post_init__(self) -> None:
            if self.stem and self.tokens == "unicode":
                raise ValueError(
                    "parameter 'stem': found yes, expected no with tokens=unicode (Porter is English)"
                )

    params: Params

    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self._variant = VARIANTS[params.variant]
        self._tokenizer: Tokenizer | None = None

    def headline(self) -> tuple[str, frozenset[str]]:
        return f"ROUGE-{self.params.variant}", frozenset({"variant"})

    def provenance(self) -> dict[str, object]:
        if self.params.stem:
            return {"nltk": version("nltk")}
        return {"unicode": unicodedata.unidata_version} if self.params.tokens == "unicode" else {}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if self._tokenizer is None:
            plain = rouge_score_words if self.params.tokens == "rouge_score" else unicode_words
            self._tokenizer = stemmed(plain) if self.params.stem else plain
        # Systems share references and articles, which are prepared once per batch.
        known: dict[object, Prepared | str] = {}
        return [self._score(item, known, self._tokenizer) for item in items]

    def _score(self, item: Item, known: dict[object, Prepared | str], tokenizer: Tokenizer) -> Scored:
        texts = self._split((item.summary,), item.summary_sentences)
        if not texts:
            return Scored.unscored(self.dimensions, EMPTY_SUMMARY)
        summary = self._prepare(texts, tokenizer, self._variant.summary, "summary")
        if isinstance(summary, str):
            return Scored.unscored(self.dimensions, summary)
        given = self._given(item)
        targets = known.get(given)
        if targets is None:
            targets = known[given] = self._targets(*given, tokenizer)
        if isinstance(targets, str):
            return Scored.unscored(self.dimensions, targets)
        common = self._variant.common(summary, targets)
        return Scored.of({GENERAL: self._combined(common, summary.sizes[0], targets.sizes)})

    def _given(self, item: Item) -> tuple[tuple[str, ...], Sentences | None]:
        """Return the texts to compare with, and the given sentences of the first, if any."""
        if self.params.against == "article":
            return (item.article or "",), item.article_sentences
        return item.references, item.reference_sentences

    def _targets(
        self, given: tuple[str, ...], sentences: Sentences | None, tokenizer: Tokenizer
    ) -> Prepared | str:
        """Return all targets prepared together, or why there are none."""
        against_article = self.params.against == "article"
        texts = self._split(given, sentences)
        if self.params.references == "first":
            texts = texts[:1]
        if not texts:
            return NO_ARTICLE if against_article else NO_REFERENCE
        return self._prepare(
            texts, tokenizer, self._variant.targets, "article" if against_article else "reference"
        )

    def _split(self, texts: tuple[str, ...], first: Sentences | None) -> list[Sentences]:
        """Return the texts that are not blank, in sentences; `first` has sentences of the first text."""
        if not self._variant.by_sentence:
            return [(text,) for text in texts if not is_blank(text)]
        end = "\n" if self.params.sentences == "newline" else " . "
        return [
            first if first and index == 0 else tuple(text.split(end))
            for index, text in enumerate(texts)
            if not is_blank(text)
        ]

    def _prepare(
        self,
        texts: list[Sentences],
        tokenizer: Tokenizer,
        prepare: Callable[[list[Text]], Prepared],
        what: str,
    ) -> Prepared | str:
        """Return the texts tokenised and prepared, or why one of them has no words."""
        cut = []
        for sentences in texts:
            words = [tokenizer(sentence) for sentence in sentences]
            if not any(words) or lost_all_letters("".join(sentences), words):
                advice = "; tokens=unicode keeps them" if self.params.tokens == "rouge_score" else ""
                return f"the {what} has no words under tokens={self.params.tokens}{advice}"
            cut.append(words)
        return prepare(cut)

    def _combined(self, common: list[int], summary_size: int, target_sizes: list[int]) -> float:
        """Return one number from the summary's overlap with each target."""
        if self.params.measure == "f1":
            values = [
                2 * each / (summary_size + size or 1) for each, size in zip(common, target_sizes, strict=True)
            ]
        elif self.params.measure == "precision":
            values = [each / (summary_size or 1) for each in common]
        else:
            values = [each / (size or 1) for each, size in zip(common, target_sizes, strict=True)]
        if self.params.references == "mean":
            return combined(values, "mean")
        return values[_best_target(common, summary_size, target_sizes)]


def _best_target(common: list[int], summary_size: int, target_sizes: list[int]) -> int:
    """Return the first target with the highest F1, computed in rouge-score's steps, which decide ties."""
    f1 = []
    for each, size in zip(common, target_sizes, strict=True):
        precision, recall = each / (summary_size or 1), each / (size or 1)
        f1.append(2 * precision * recall / (precision + recall) if each else 0.0)
    return f1.index(max(f1))
