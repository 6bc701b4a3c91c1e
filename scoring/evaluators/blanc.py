import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import OUT_OF_MEMORY, Scored, share_of, shares_in_words, shares_read
from scoring.evaluators.bases.model_evaluator import (
    ModelEvaluator,
    ModelParams,
    max_length_setting,
    model_setting,
)
from scoring.texts.sentences import LIBRARIES, sentences_of

if TYPE_CHECKING:
    from scoring.neural.blanc import Guessed, MaskFiller, Teaching
    from scoring.neural.blanc_masks import Cloze, Masks

NOTHING_TO_GUESS = "no word of the article can be hidden"
FILLER = "."
"""BLANC-help: the token that replaces each token of the summary."""
SENTENCE_KEEPS = 100
"""BLANC-help: tokens that a cut sentence keeps before the summary is cut."""
CHUNK, STRIDE = 64, 32
"""BLANC-tune: tokens of the summary per training step, and from one step's first token to the next's."""

Outcomes = Counter[tuple[bool, bool]]
"""(guessed without the summary, guessed with it) -> number of hidden words."""


class Blanc(ModelEvaluator):
    """A BERT's gain from the summary in guessing the article's hidden words: -1 to 1, above 0 if it helps.

    The model reads each sentence of the article several times, each time with other words hidden. A guess is
    right if the likeliest token is the hidden one. In the form `help` the summary precedes the sentence,
    compared with a filler of the same number of tokens. In the form `tune` a copy of the model is trained on
    the summary, one copy each, compared with the untrained model. The article is NFKD-normalised, and in
    `help` the summary too, as in the authors' package. Sampling and dropout of `tune` restart from `seed` for
    each summary, so a score depends on no other summary.

    An article without words that can be hidden is not scored (0 in the package), nor is an empty summary.
    """

    name = "blanc"
    title = "BLANC"
    version = 1
    source = (
        "Vasilyev, Dharnidharka and Bohannon 2020, Fill in the BLANC; defaults and cuts of the authors' "
        "package, version 0.3.4, which hides every second token where the paper hides every sixth"
    )
    formula = "(guessed only with the summary - guessed only without it) / hidden words"
    weaknesses = (
        "Rewards copying: a summary that repeats rare words of the article helps most. Ignores false "
        "statements. Longer summaries help more. With a multilingual cased model use NFC, since NFKD "
        "decomposes accents and Korean syllables, unlike such a model's training. Chinese pieces are single "
        "characters, shorter than the default minimum lengths, so lower these, or nothing is hidden."
    )
    cost = (
        "help: two passes of the model for each sentence and shift of the masks, over summary and sentence. "
        "tune: about a hundred training steps for each summary, and a pass for each sentence and shift."
    )
    weights = (
        "The authors use google-bert/bert-base-uncased (440 MB), as it is on the hub; any BERT with its "
        "masked-language-model head and WordPiece vocabulary serves."
    )
    needs = frozenset({Need.ARTICLE})
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)
    batch_size = 32  # a summary may take half a minute, and an interrupted batch starts again

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("google-bert/bert-base-uncased")
        form: str = setting(
            "help",
            label="Form",
            help="The summary precedes each sentence (help), or the model learns it (tune).",
            choices={"help": "BLANC-help", "tune": "BLANC-tune"},
        )
        measure: str = setting(
            "relative",
            label="Measure",
            help="Divisor of the gained and lost guesses.",
            choices={"relative": "relative gain", "improve": "improvement"},
            details="relative: (only with - only without) / all; improve: only with / (all but only "
            "without), from 0 to 1.",
        )
        gap: int = setting(
            2, label="Mask gap", help="Tokens from one masked position to the next; the paper has 6.", low=1
        )
        masked_per_gap: int = setting(
            1,
            label="Masked per gap",
            help="Neighbouring tokens hidden in each gap.",
            low=1,
            phrase="{} masked per gap",
        )
        shortest_word: int = setting(
            4, label="Shortest word", help="Fewest characters of a whole word that may be hidden.", low=1
        )
        shortest_first_piece: int = setting(
            2,
            label="Shortest first piece",
            help="Fewest characters of a split word's first piece that may be hidden.",
            low=1,
        )
        shortest_later_piece: int = setting(
            100,
            label="Shortest later piece",
            help="Fewest characters of a later piece that may be hidden; 100: none.",
            low=1,
        )
        max_length: int = max_length_setting(
            512,
            "More is cut from the sentence's end, then from the summary's, by whole sentences.",
        )
        normalisation: str = setting(
            "NFKD",
            label="Normalisation",
            help="Unicode form; NFKD as the authors, NFC for models that keep accents.",
            choices={"NFKD": "NFKD", "NFC": "NFC"},
        )
        epochs: int = setting(
            10,
            label="Epochs",
            help="BLANC-tune: passes over the summary.",
            low=1,
            phrase="{} epochs",
        )
        learning_rate: float = setting(
            5e-5, label="Learning rate", help="BLANC-tune: AdamW's learning rate at the first step.", low=0
        )
        seed: int = setting(
            1,
            label="Random seed",
            help="BLANC-tune: seed for replaced words and dropout, the same for each summary.",
            low=0,
            phrase="seed {}",
        )
        p_replace: float = setting(
            0.1,
            label="Replacement probability",
            help="BLANC-tune: probability that a random token replaces a hidden word.",
            low=0,
            high=1,
        )
        p_keep: float = setting(
            0.1,
            label="Keeping probability",
            help="BLANC-tune: probability that a hidden word stays visible but is guessed.",
            low=0,
            high=1,
        )

    params: Params

    def headline(self) -> tuple[str, frozenset[str]]:
        return f"BLANC-{self.params.form}", frozenset({"form"})

    @cached_property
    def _filler(self) -> "MaskFiller":
        from scoring.neural.blanc import MaskFiller

        return MaskFiller(self.folder(), self.params.precision)

    @cached_property
    def _masks(self) -> "Masks":
        from scoring.neural.blanc_masks import Masks

        given = self.params
        shortest = given.shortest_word, given.shortest_first_piece, given.shortest_later_piece
        return Masks(self._filler.tokens.tokenizer, given.gap, given.masked_per_gap, shortest)

    @cached_property
    def _teaching(self) -> "Teaching":
        from scoring.neural.blanc import Teaching

        given = self.params
        return Teaching(given.epochs, given.learning_rate, given.seed, given.p_replace, given.p_keep)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        score = self._help if self.params.form == "help" else self._tune
        return [self._scored(*each) for each in score(items)]

    def _help(self, items: Sequence[Item]) -> "list[tuple[Outcomes | None, dict[str, float]]]":
        clozes, shares = zip(*(self._beside_summary(item) for item in items), strict=True)
        right = iter(self._filler.right([each for pairs in clozes for pair in pairs for each in pair]))
        found = []
        for pairs, share in zip(clozes, shares, strict=True):
            guessed = [(next(right), next(right)) for _ in pairs]
            found.append((_outcomes_of(guessed), share))
        return found

    def _tune(self, items: Sequence[Item]) -> "list[tuple[Outcomes | None, dict[str, float]]]":
        clozes, shares = zip(*(self._alone(item) for item in items), strict=True)
        before = iter(self._filler.right([each for some in clozes for each in some]))
        untaught = [[next(before) for _ in some] for some in clozes]
        by_summary: dict[str, list[int]] = {}
        for index, item in enumerate(items):
            by_summary.setdefault(item.summary, []).append(index)
        outcomes: dict[int, Outcomes | None] = {}
        for summary, indices in by_summary.items():
            taught = iter(self._taught(summary, [each for index in indices for each in clozes[index]]))
            for index in indices:
                after = [next(taught) for _ in clozes[index]]
                outcomes[index] = _outcomes_of(list(zip(untaught[index], after, strict=True)))
        return [(outcomes[index], share) for index, share in enumerate(shares)]

    def _taught(self, summary: str, clozes: "Sequence[Cloze]") -> "Sequence[Guessed]":
        """Return what a copy of the model trained on `summary` guesses right; None if out of memory."""
        from scoring.neural.batching import in_halves

        def compute(_: list[int]) -> "list[list[Guessed]]":
            return [self._filler.taught(self._lessons(summary), self._teaching).right(clozes)]

        [(_, guessed)] = in_halves([0], compute)
        return guessed or [None] * len(clozes)

    def _lessons(self, summary: str) -> "list[Cloze]":
        from scoring.neural.blanc_masks import cloze, parts

        tokens = self._filler.tokens
        [pieces] = tokens.pieces([summary])
        return [
            cloze(tokens.opening, part, tokens.closing, positions, self._filler.mask)
            for part in parts(pieces, min(CHUNK, self._room), STRIDE)
            for positions in self._masks.of(part)
        ]

    def _beside_summary(self, item: Item) -> "tuple[list[tuple[Cloze, Cloze]], dict[str, float]]":
        """Return inputs with the filler and with the summary, and the shares read of the texts."""
        from scoring.neural.blanc_masks import cloze, fitted

        tokens, mask = self._filler.tokens, self._filler.mask
        [[filler]] = tokens.pieces([FILLER])
        article = self._article(item)
        summary = self._pieces(item.summary, item.summary_sentences, item.language)
        length = sum(map(len, summary))
        clozes, read = [], []
        for sentence in article:
            cut, help_ = fitted(sentence, summary, self._room, SENTENCE_KEEPS)
            read.append((len(cut), len(help_)))
            with_filler = (*tokens.opening, *[filler] * len(help_))
            with_summary = (*tokens.opening, *help_)
            clozes += [
                (
                    cloze(with_filler, cut, tokens.closing, positions, mask),
                    cloze(with_summary, cut, tokens.closing, positions, mask),
                )
                for positions in self._masks.of(cut)
            ]
        least = min((helped for _, helped in read), default=length)
        shares = [
            ("article", share_of(sum(kept for kept, _ in read), sum(map(len, article)))),
            ("summary", share_of(least, length)),
        ]
        return clozes, shares_read(shares)

    def _alone(self, item: Item) -> "tuple[list[Cloze], dict[str, float]]":
        """Return inputs with only the article's sentences, and the share read of the article."""
        from scoring.neural.blanc_masks import cloze

        tokens = self._filler.tokens
        article = self._article(item)
        cut = [sentence[: self._room] for sentence in article]
        clozes = [
            cloze(tokens.opening, sentence, tokens.closing, positions, self._filler.mask)
            for sentence in cut
            for positions in self._masks.of(sentence)
        ]
        return clozes, shares_read([("article", share_of(sum(map(len, cut)), sum(map(len, article))))])

    @cached_property
    def _room(self) -> int:
        """Return the most ids that an input may have beside its special ones."""
        tokens = self._filler.tokens
        limit = min(self.params.max_length, self._filler.limit)
        return limit - len(tokens.opening) - len(tokens.closing)

    def _article(self, item: Item) -> list[tuple[int, ...]]:
        return self._pieces(item.article or "", item.article_sentences, item.language)

    def _pieces(self, text: str, given: Sequence[str] | None, language: str | None) -> list[tuple[int, ...]]:
        """Return the ids of each sentence, normalised."""
        form: Literal["NFKD", "NFC"] = "NFKD" if self.params.normalisation == "NFKD" else "NFC"
        found = sentences_of(unicodedata.normalize(form, text), language, given)
        return self._filler.tokens.pieces([unicodedata.normalize(form, each) for each in found])

    def _scored(self, outcomes: Outcomes | None, shares: dict[str, float]) -> Scored:
        if outcomes is None:
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        if not outcomes:
            return Scored.unscored(self.dimensions, NOTHING_TO_GUESS)
        said = [_in_words(outcomes), *([shares_in_words(shares)] if shares else [])]
        value = _measured(outcomes, self.params.measure)
        return Scored({GENERAL: value}, explanations={GENERAL: "; ".join(said)}, shares_read=shares)


def _outcomes_of(guessed: "Sequence[tuple[Guessed, Guessed]]") -> Outcomes | None:
    """Count outcomes over pairs of inputs without and with the summary; None if any is missing."""
    outcomes: Outcomes = Counter()
    for without, with_ in guessed:
        if without is None or with_ is None:
            return None
        outcomes.update(zip(without, with_, strict=True))
    return outcomes


def _measured(outcomes: Outcomes, measure: str) -> float:
    """Return "relative" in [-1, 1], or "improve" in [0, 1]; there is at least one hidden word."""
    gained, lost, hidden = outcomes[False, True], outcomes[True, False], outcomes.total()
    if measure == "relative":
        return (gained - lost) / hidden
    return gained / (hidden - lost) if hidden > lost else 0.0


def _in_words(outcomes: Outcomes) -> str:
    return (
        f"of {outcomes.total()} hidden words: {outcomes[False, True]} guessed only with the summary, "
        f"{outcomes[True, False]} only without it, {outcomes[True, True]} either way, "
        f"{outcomes[False, False]} never"
    )
