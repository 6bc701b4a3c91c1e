import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from scoring.contract import EMPTY_SUMMARY, GENERAL, NO_ARTICLE, NO_REFERENCE, Evaluator, Item, Need, Scored
from scoring.params import param
from scoring.texts.compared_texts import against_param, combined, references_param
from scoring.texts.overlap import VARIANTS, Prepared, Text
from scoring.texts.tokens import Tokenizer, lost_all_letters, rouge_score_words, stemmed, unicode_words

Sentences = tuple[str, ...]
"""A text before it is cut into words; where sentences do not matter, the whole as one."""


class Rouge(Evaluator):
    """Overlap of words with the references, or with the article: a number in [0, 1].

    ROUGE-1 and ROUGE-2 count common words and pairs of words, ROUGE-L the longest common subsequence of
    words, ROUGE-Lsum the union of the longest common subsequences of sentences. Under default tokens it
    gives the numbers of the Python package rouge-score 0.1.2, in which ROUGE-2 of a single word is 0.

    Blank references are left out. An empty summary is not scored (the package says 0), nor is one that has
    no words under `tokens`, or that is compared with a text which has none.
    """

    name = "rouge"
    title = "ROUGE"
    version = 1
    source = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries"
    formula = "overlap / words of the reference (recall), / words of the summary (precision), 2PR / (P + R)"
    weaknesses = (
        "Counts words, not meanings: paraphrases lose, and a false statement in the article's words does "
        "not. Scores under different tokens or stemming cannot be compared."
    )
    cost = "Thousands of summaries a second."
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
        against: str = against_param()
        references: str = references_param("max", "Highest is by f1, whatever the measure.")
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
        self._variant = VARIANTS[params.variant]
        self._tokenizer: Tokenizer | None = None

    @classmethod
    def needs_for(cls, params: Params) -> frozenset[Need]:
        return frozenset({Need(params.against)})

    def provenance(self) -> dict[str, object]:
        if self.params.stem:
            return {"nltk": version("nltk")}
        return {"unicode": unicodedata.unidata_version} if self.params.tokens == "unicode" else {}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if self._tokenizer is None:
            plain = rouge_score_words if self.params.tokens == "rouge_score" else unicode_words
            self._tokenizer = stemmed(plain) if self.params.stem else plain
        # Systems share references and articles: these are prepared once in a batch.
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
        """The texts to compare with, and the sentences of the first, if given."""
        if self.params.against == "article":
            return (item.article or "",), item.article_sentences
        return item.references, item.reference_sentences

    def _targets(
        self, given: tuple[str, ...], sentences: Sentences | None, tokenizer: Tokenizer
    ) -> Prepared | str:
        """All targets together, or why there are none."""
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
        """The texts that are not blank, as they will be compared; `first`: given sentences of the first."""
        if not self._variant.by_sentence:
            return [(text,) for text in texts if text.strip()]
        end = "\n" if self.params.sentences == "newline" else " . "
        return [
            first if first and index == 0 else tuple(text.split(end))
            for index, text in enumerate(texts)
            if text.strip()
        ]

    def _prepare(
        self,
        texts: list[Sentences],
        tokenizer: Tokenizer,
        prepare: Callable[[list[Text]], Prepared],
        what: str,
    ) -> Prepared | str:
        """The texts cut into words and made ready, or the reason why one of them has no words."""
        cut = []
        for sentences in texts:
            words = [tokenizer(sentence) for sentence in sentences]
            if not any(words) or lost_all_letters("".join(sentences), words):
                advice = "; tokens=unicode keeps them" if self.params.tokens == "rouge_score" else ""
                return f"the {what} has no words under tokens={self.params.tokens}{advice}"
            cut.append(words)
        return prepare(cut)

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
        if self.params.references == "mean":
            return combined(values, "mean")
        return values[_best_target(common, summary_size, target_sizes)]


def _best_target(common: list[int], summary_size: int, target_sizes: list[int]) -> int:
    """The first target with the highest f1, by the floating-point steps of rouge-score: they decide ties."""
    f1 = []
    for each, size in zip(common, target_sizes, strict=True):
        precision, recall = each / (summary_size or 1), each / (size or 1)
        f1.append(2 * precision * recall / (precision + recall) if each else 0.0)
    return f1.index(max(f1))
