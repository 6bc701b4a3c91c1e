import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import fsum

from scoring.contract import EMPTY_SUMMARY, GENERAL, NO_ARTICLE, NO_REFERENCE, Evaluator, Item, Need, Scored
from scoring.overlap import VARIANTS, Prepared, Text
from scoring.params import param
from scoring.tokens import Tokenizer, lost_all_letters, rouge_score_words, stemmed, unicode_words

Sentences = tuple[str, ...]
"""A text before it is cut into words; where sentences do not matter, the whole as one."""


class Rouge(Evaluator):
    """Overlap of words with the references, or with the article: a number in [0, 1].

    ROUGE-1 and ROUGE-2 count common words and pairs of words, ROUGE-L the longest common subsequence of
    words, ROUGE-Lsum the union of the longest common subsequences of sentences. Under default tokens it
    gives the numbers of the Python package rouge-score 0.1.2, in which ROUGE-2 of a single word is 0.
    """

    name = "rouge"
    title = "ROUGE"
    version = 1
    source = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries"
    needs = frozenset({Need.REFERENCES})
    batch_size = 2048

    @dataclass(frozen=True)
    class Params:
        variant: str = param(
            "L",
            choices=("1", "2", "L", "Lsum"),
            doc="1: words; 2: pairs of neighbouring words; L: longest common subsequence of the whole texts; "
            "Lsum: the same by sentences.",
        )
        measure: str = param(
            "f1",
            choices=("f1", "precision", "recall"),
            doc="Precision is the share of the summary that is found, recall the share of the reference, "
            "f1 their harmonic mean.",
        )
        against: str = param(
            "references", choices=("references", "article"), doc="The texts the summary is compared with."
        )
        multiple: str = param(
            "max",
            choices=("max", "mean"),
            doc="Several references: the one with the highest f1, whatever the measure, or the mean.",
        )
        tokens: str = param(
            "rouge_score",
            choices=("rouge_score", "unicode"),
            doc="What a word is. rouge_score: a-z and 0-9 only, all else separates words (English); unicode: "
            "letters and digits of any script, words separated by spaces or punctuation.",
        )
        stem: bool = param(
            False,
            doc="Porter stemming of words longer than 3 letters; English only, so not with tokens=unicode.",
        )
        sentences: str = param(
            "newline",
            choices=("newline", "period"),
            doc="For Lsum, where a text without given sentences is split: at line ends, as rouge-score does, "
            "or at ' . ' (tokenised text, as in SummEval). A text that is not split is one sentence.",
        )

        def __post_init__(self) -> None:
            if self.stem and self.tokens == "unicode":
                raise ValueError(
                    "parameter 'stem': found yes, expected no with tokens=unicode (Porter is English)"
                )

    params: Params

    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self._tokenizer: Tokenizer | None = None

    @classmethod
    def needs_for(cls, params: Params) -> frozenset[Need]:
        return frozenset({Need.ARTICLE if params.against == "article" else Need.REFERENCES})

    def provenance(self) -> dict[str, object]:
        if self.params.stem:
            return {"nltk": version("nltk")}
        return {"unicode": unicodedata.unidata_version} if self.params.tokens == "unicode" else {}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if self._tokenizer is None:
            plain = rouge_score_words if self.params.tokens == "rouge_score" else unicode_words
            self._tokenizer = stemmed(plain) if self.params.stem else plain
        texts = _PreparedTexts(self.params, self._tokenizer)
        return [self._score(item, texts) for item in items]

    def _score(self, item: Item, texts: "_PreparedTexts") -> Scored:
        summary = texts.summary(item)
        if isinstance(summary, str):
            return Scored.unscored(self.dimensions, summary)
        targets = texts.targets(item)
        if isinstance(targets, str):
            return Scored.unscored(self.dimensions, targets)
        common = VARIANTS[self.params.variant].common(summary, targets)
        return Scored.of({GENERAL: self._combined(common, summary.sizes[0], targets.sizes)})

    def _combined(self, common: list[int], summary_size: int, target_sizes: list[int]) -> float:
        """One number from what the summary shares with each target."""
        if self.params.measure == "f1":
            values = [
                2 * each / (summary_size + size or 1) for each, size in zip(common, target_sizes, strict=True)
            ]
        elif self.params.measure == "precision":
            values = [each / (summary_size or 1) for each in common]
        else:
            values = [each / (size or 1) for each, size in zip(common, target_sizes, strict=True)]
        if self.params.multiple == "mean":
            return fsum(values) / len(values)
        return values[_best_target(common, summary_size, target_sizes)]


def _best_target(common: list[int], summary_size: int, target_sizes: list[int]) -> int:
    """The first target with the highest f1, by the floating-point steps of rouge-score: they decide ties."""
    f1 = []
    for each, size in zip(common, target_sizes, strict=True):
        precision, recall = each / (summary_size or 1), each / (size or 1)
        f1.append(2 * precision * recall / (precision + recall) if each else 0.0)
    return f1.index(max(f1))


class _PreparedTexts:
    """Prepares what the summaries of a batch share once; where it cannot, answers with the reason."""

    def __init__(self, params: Rouge.Params, tokenizer: Tokenizer) -> None:
        self._params, self._tokenizer = params, tokenizer
        self._variant = VARIANTS[params.variant]
        self._summaries: dict[object, Prepared | str] = {}
        self._targets: dict[object, Prepared | str] = {}
        self._words: dict[Sentences, Text] = {}

    def summary(self, item: Item) -> Prepared | str:
        key = (item.summary, item.summary_sentences)
        found = self._summaries.get(key)
        if found is None:
            texts = self._split((item.summary,), item.summary_sentences)
            found = self._prepare(texts, self._variant.summary, "summary") if texts else EMPTY_SUMMARY
            self._summaries[key] = found
        return found

    def targets(self, item: Item) -> Prepared | str:
        """The references, or the article, together; blank ones are none."""
        what, given, sentences = "reference", item.references, item.reference_sentences
        if self._params.against == "article":
            what, given, sentences = "article", (item.article or "",), item.article_sentences
        found = self._targets.get((given, sentences))
        if found is None:
            texts = self._split(given, sentences)
            absent = NO_ARTICLE if what == "article" else NO_REFERENCE
            found = self._prepare(texts, self._variant.targets, what) if texts else absent
            self._targets[given, sentences] = found
        return found

    def _split(self, texts: tuple[str, ...], first: Sentences | None) -> list[Sentences]:
        """The texts that are not blank, as they will be compared; `first`: given sentences of the first."""
        if not self._variant.by_sentence:
            return [(text,) for text in texts if text.strip()]
        end = "\n" if self._params.sentences == "newline" else " . "
        return [
            first if first and index == 0 else tuple(text.split(end))
            for index, text in enumerate(texts)
            if text.strip()
        ]

    def _prepare(
        self, texts: list[Sentences], prepare: Callable[[list[Text]], Prepared], what: str
    ) -> Prepared | str:
        cut = []
        for text in texts:
            words = self._words.get(text)
            if words is None:
                words = self._words[text] = self._cut(text)
            if not words:
                advice = "; tokens=unicode keeps them" if self._params.tokens == "rouge_score" else ""
                return f"the {what} has no words under tokens={self._params.tokens}{advice}"
            cut.append(words)
        return prepare(cut)

    def _cut(self, text: Sentences) -> Text:
        """The words of each sentence; an empty list if there is none, or if all that are left are digits."""
        words = [self._tokenizer(sentence) for sentence in text]
        return words if any(words) and not lost_all_letters("".join(text), words) else []
