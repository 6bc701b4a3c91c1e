import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from operator import attrgetter
from statistics import fmean

from rouge_score_rs import RougeScorer

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import GENERAL, Evaluator, Need
from scoring.contract.items import Item
from scoring.contract.scores import EMPTY_SUMMARY, NO_ARTICLE, NO_REFERENCE, Scored
from scoring.texts.compared_texts import against_setting, measure_setting, references_setting
from scoring.texts.tokens import Rewriting, has_words, names_of_words, stems, unchanged

Sentences = tuple[str, ...]
Targets = tuple[tuple[str, ...], Sentences | None]
"""The texts to compare with, and the given sentences of the first, if any."""


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
    version = 2
    source = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries"
    formula = "overlap / words of the reference (recall), / words of the summary (precision), 2PR / (P + R)"
    weaknesses = (
        "Counts words, not meanings: paraphrases score low, and false statements in the article's words "
        "score high. Scores with different tokens or stemming cannot be compared."
    )
    cost = (
        "Ten thousand summaries a second. ROUGE-Lsum takes 4 bytes of memory for each pair of words in two "
        "sentences."
    )
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
            help="Marks at which ROUGE-Lsum splits a text without given sentences.",
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
        self._name = f"rouge{params.variant}"
        self._scorer = RougeScorer([self._name])
        self._measured = attrgetter("fmeasure" if params.measure == "f1" else params.measure)

    def headline(self) -> tuple[str, frozenset[str]]:
        return f"ROUGE-{self.params.variant}", frozenset({"variant"})

    def provenance(self) -> dict[str, object]:
        unicode = {"unicode": unicodedata.unidata_version} if self.params.tokens == "unicode" else {}
        return {"rouge-score-rs": version("rouge-score-rs"), **unicode}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        rewriting: Rewriting = unchanged
        if self.params.tokens == "unicode":
            rewriting = names_of_words()
        elif self.params.stem:
            rewriting = stems()
        # Systems share references and articles, which are prepared once per batch.
        known: dict[Targets, list[str] | str] = {}
        return [self._score(item, known, rewriting) for item in items]

    def _score(self, item: Item, known: dict[Targets, list[str] | str], rewriting: Rewriting) -> Scored:
        if is_blank(item.summary):
            return Scored.unscored(self.dimensions, EMPTY_SUMMARY)
        summary = self._ready(item.summary, item.summary_sentences, rewriting)
        if summary is None:
            return Scored.unscored(self.dimensions, self._without_words("summary"))
        if self.params.against == "article":
            given: Targets = (item.article or "",), item.article_sentences
        else:
            given = item.references, item.reference_sentences
        targets = known.get(given)
        if targets is None:
            targets = known[given] = self._ready_targets(given, rewriting)
        if isinstance(targets, str):
            return Scored.unscored(self.dimensions, targets)
        return Scored.of({GENERAL: self._compared(summary, targets)})

    def _ready_targets(self, given: Targets, rewriting: Rewriting) -> list[str] | str:
        """Return the targets that count, ready to be compared, or why there are none."""
        texts, sentences = given
        against_article = self.params.against == "article"
        counted = [
            (text, None if index else sentences) for index, text in enumerate(texts) if not is_blank(text)
        ]
        if self.params.references == "first":
            counted = counted[:1]
        if not counted:
            return NO_ARTICLE if against_article else NO_REFERENCE
        ready = [self._ready(*each, rewriting) for each in counted]
        found = [text for text in ready if text is not None]
        if len(found) < len(ready):
            return self._without_words("article" if against_article else "reference")
        return found

    def _ready(self, text: str, sentences: Sentences | None, rewriting: Rewriting) -> str | None:
        """Return the text in words of a-z and 0-9, or None if it has no words.

        For ROUGE-Lsum each sentence has a line; `sentences` replace those that the splitter would find.
        """
        lines: Sequence[str] = (text,)
        if self.params.variant == "Lsum":
            end = "\n" if self.params.sentences == "newline" else " . "
            lines = [line.replace("\n", " ") for line in sentences or text.split(end)]
        rewritten = "\n".join(map(rewriting, lines))
        return rewritten if has_words("\n".join(lines), rewritten) else None

    def _without_words(self, text: str) -> str:
        """Return why a summary, reference or article is not compared."""
        advice = "; tokens=unicode keeps them" if self.params.tokens == "rouge_score" else ""
        return f"the {text} has no words under tokens={self.params.tokens}{advice}"

    def _compared(self, summary: str, targets: list[str]) -> float:
        """Return one number for the summary beside its targets."""
        if self.params.references == "mean":
            scores = [self._scorer.score(target, summary) for target in targets]
        else:
            scores = [self._scorer.score_multi(targets, summary)]
        return fmean([self._measured(score[self._name]) for score in scores])
