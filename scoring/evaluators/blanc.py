import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from scoring.contract import GENERAL, OUT_OF_MEMORY, Item, Need, Scored, shares_in_words, shares_read
from scoring.guess_counts import Outcomes, in_words, measured, outcomes_of
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams
from scoring.params import param
from scoring.texts.sentences import LIBRARIES, sentences
from scoring.weights import MissingWeights

if TYPE_CHECKING:
    from scoring.neural.blanc import MaskFiller, Teaching
    from scoring.neural.blanc_masks import Cloze, Masks

NOTHING_TO_GUESS = "no word of the article can be hidden"


class Blanc(ModelEvaluator):
    """How much the summary helps a BERT to guess hidden words of the article: -1 to 1, above 0 if it helps.

    Each sentence of the article goes through the model several times, each time with other words hidden, and
    a guess is right if the likeliest token is the hidden one. In the form `help` the summary stands before
    the sentence, against a filler of the same number of tokens; in the form `tune` a copy of the model is
    trained on the summary, one copy for each, against the model as it is. The article is NFKD-normalised, and
    in `help` the summary too, as in the authors' package. Draws and dropout of `tune` start anew from `seed`
    for each summary, so a score depends on no other summary.

    An article with no word that can be hidden is unscored (the package says 0), as is an empty summary.
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
        "Rewards copying: a summary that repeats rare words of the article helps most. Blind to what the "
        "summary says wrongly. Longer summaries help more. With a multilingual cased model take NFC: NFKD "
        "takes accents and Korean syllables apart, and such a model has not learnt them so. Chinese pieces "
        "are single characters, shorter than the default lengths, so nothing would be hidden: lower them."
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
    batch_size = 32  # a summary may take half a minute, and a batch that is broken off starts anew

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param("google-bert/bert-base-uncased", doc=WEIGHTS_DOC, is_weights=True)
        form: str = param(
            "help",
            choices=("help", "tune"),
            doc="The summary stands before each sentence, or the model is trained on it.",
        )
        measure: str = param(
            "relative",
            choices=("relative", "improve"),
            doc="relative: (only with - only without) / all; improve: only with / (all but only without), "
            "from 0 to 1.",
        )
        gap: int = param(2, low=1, doc="Masks come round every so many tokens. The paper has 6.")
        masked_per_gap: int = param(1, low=1, doc="Neighbouring tokens hidden in each gap.")
        shortest_word: int = param(4, low=1, doc="Least length, in characters, of a whole word to be hidden.")
        shortest_first_piece: int = param(
            2, low=1, doc="Least length, in characters, of the first piece of a split word to be hidden."
        )
        shortest_later_piece: int = param(
            100, low=1, doc="Least length, in characters, of a later piece to be hidden; 100 is never."
        )
        filler: str = param(".", doc="help: the token that stands for each of the summary's tokens.")
        separator: str = param("", doc="help: text between the summary, or filler, and the sentence.")
        max_length: int = param(
            512,
            low=16,
            doc="Longest input in tokens, special ones included; less where the model allows less. What "
            "exceeds it is cut from the sentence's end, then from the summary's, by whole sentences.",
        )
        sentence_keeps: int = param(
            100, low=1, doc="Tokens to which a sentence may be cut before the summary is."
        )
        normalisation: str = param(
            "NFKD",
            choices=("NFKD", "NFC"),
            doc="Unicode form of the texts. NFKD is the authors'; NFC is for models that keep accents.",
        )
        epochs: int = param(10, low=1, doc="tune: how often the model sees the summary.")
        chunk: int = param(64, low=1, doc="tune: tokens of the summary in one training step.")
        stride: int = param(
            32, low=1, doc="tune: tokens from the beginning of one chunk to that of the next."
        )
        learning_rate: float = param(5e-5, low=0, doc="tune: AdamW's, at the first step.")
        seed: int = param(1, low=0, doc="tune: for replaced words and dropout, the same for each summary.")
        p_replace: float = param(
            0.1, low=0, high=1, doc="tune: probability that a random token stands for a hidden word."
        )
        p_keep: float = param(
            0.1, low=0, high=1, doc="tune: probability that a hidden word is shown, but has to be guessed."
        )
        replacements_from: int = param(1000, low=0, doc="tune: first id of the random tokens.")
        replacements_to: int = param(
            29_999, low=0, doc="tune: last id of the random tokens; at most the vocabulary's last."
        )

    params: Params

    @cached_property
    def _filler(self) -> "MaskFiller":
        from scoring.neural.blanc import MaskFiller

        return MaskFiller(self.folder(), self.params.precision)

    @cached_property
    def _masks(self) -> "Masks":
        from scoring.neural.blanc_masks import MaskRule, Masks

        given = self.params
        rule = MaskRule(
            given.gap,
            given.masked_per_gap,
            given.shortest_word,
            given.shortest_first_piece,
            given.shortest_later_piece,
        )
        return Masks(rule, self._filler.tokens.tokenizer)

    @cached_property
    def _teaching(self) -> "Teaching":
        from scoring.neural.blanc import Teaching

        given = self.params
        last = min(given.replacements_to, self._filler.model.config.vocab_size - 1)
        if given.p_replace > 0 and given.replacements_from > last:
            raise MissingWeights(
                f"The vocabulary ends with id {self._filler.model.config.vocab_size - 1}, so no replacement "
                f"can be drawn from {given.replacements_from} to {given.replacements_to}: set "
                "replacements_from, or p_replace to 0."
            )
        return Teaching(
            given.epochs,
            given.learning_rate,
            given.seed,
            given.p_replace,
            given.p_keep,
            (given.replacements_from, last),
        )

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        score = self._help if self.params.form == "help" else self._tune
        return [self._scored(*each) for each in score(items)]

    def _help(self, items: Sequence[Item]) -> "list[tuple[Outcomes | None, dict[str, float]]]":
        clozes, shares = zip(*(self._beside_summary(item) for item in items), strict=True)
        right = iter(self._filler.right([each for pairs in clozes for pair in pairs for each in pair]))
        found = []
        for pairs, share in zip(clozes, shares, strict=True):
            guessed = [(next(right), next(right)) for _ in pairs]
            found.append((outcomes_of(guessed), share))
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
                outcomes[index] = outcomes_of(list(zip(untaught[index], after, strict=True)))
        return [(outcomes[index], share) for index, share in enumerate(shares)]

    def _taught(self, summary: str, clozes: "Sequence[Cloze]") -> list[tuple[bool, ...] | None]:
        """What a copy of the model that has learnt from `summary` guesses right; None out of memory."""
        from scoring.neural.device import is_out_of_memory

        try:
            return self._filler.taught(self._lessons(summary), self._teaching).right(clozes)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return [None] * len(clozes)

    def _lessons(self, summary: str) -> "list[Cloze]":
        from scoring.neural.blanc_masks import cloze, parts

        tokens = self._filler.tokens
        [pieces] = tokens.pieces([summary])
        size = min(self.params.chunk, self._room)
        return [
            cloze(tokens.opening, part, tokens.closing, positions, self._filler.mask)
            for part in parts(pieces, size, self.params.stride)
            for positions in self._masks.of(part)
        ]

    def _beside_summary(self, item: Item) -> "tuple[list[tuple[Cloze, Cloze]], dict[str, float]]":
        """Inputs with the filler and with the summary, and what share of the texts they hold."""
        from scoring.neural.blanc_masks import cloze, fitted

        tokens, mask = self._filler.tokens, self._filler.mask
        filler = self._filler.id_of(self.params.filler)
        [separator] = tokens.pieces([self.params.separator])
        article, summary = (
            self._pieces(self._article_sentences(item)),
            self._pieces(self._summary_sentences(item)),
        )
        length = sum(map(len, summary))
        clozes, read = [], []
        for sentence in article:
            cut, help_ = fitted(sentence, summary, self._room - len(separator), self.params.sentence_keeps)
            read.append((len(cut), len(help_)))
            with_filler = (*tokens.opening, *[filler] * len(help_), *separator)
            with_summary = (*tokens.opening, *help_, *separator)
            clozes += [
                (
                    cloze(with_filler, cut, tokens.closing, positions, mask),
                    cloze(with_summary, cut, tokens.closing, positions, mask),
                )
                for positions in self._masks.of(cut)
            ]
        least = min((helped for _, helped in read), default=length)
        shares = [
            ("article", _share(sum(kept for kept, _ in read), article)),
            ("summary", _share(least, summary)),
        ]
        return clozes, shares_read(shares)

    def _alone(self, item: Item) -> "tuple[list[Cloze], dict[str, float]]":
        """Inputs with nothing but the article's sentences, and what share of it they hold."""
        from scoring.neural.blanc_masks import cloze

        tokens = self._filler.tokens
        article = self._pieces(self._article_sentences(item))
        cut = [sentence[: self._room] for sentence in article]
        clozes = [
            cloze(tokens.opening, sentence, tokens.closing, positions, self._filler.mask)
            for sentence in cut
            for positions in self._masks.of(sentence)
        ]
        return clozes, shares_read([("article", _share(sum(map(len, cut)), article))])

    @cached_property
    def _room(self) -> int:
        """Ids that an input may have beside its special ones."""
        tokens = self._filler.tokens
        limit = min(self.params.max_length, self._filler.limit)
        return limit - len(tokens.opening) - len(tokens.closing)

    def _pieces(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        return self._filler.tokens.pieces(texts)

    def _article_sentences(self, item: Item) -> list[str]:
        return self._split(item.article or "", item.article_sentences, item.language)

    def _summary_sentences(self, item: Item) -> list[str]:
        return self._split(item.summary, item.summary_sentences, item.language)

    def _split(self, text: str, given: Sequence[str] | None, language: str | None) -> list[str]:
        form: Literal["NFKD", "NFC"] = "NFKD" if self.params.normalisation == "NFKD" else "NFC"
        if given is not None:
            return [unicodedata.normalize(form, each) for each in given]
        return list(sentences(unicodedata.normalize(form, text), language))

    def _scored(self, outcomes: Outcomes | None, shares: dict[str, float]) -> Scored:
        if outcomes is None:
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        if not outcomes:
            return Scored.unscored(self.dimensions, NOTHING_TO_GUESS)
        said = [in_words(outcomes), *([shares_in_words(shares)] if shares else [])]
        value = measured(outcomes, self.params.measure)
        return Scored({GENERAL: value}, explanations={GENERAL: "; ".join(said)}, shares_read=shares)


def _share(kept: int, texts: Sequence[Sequence[int]]) -> float:
    whole = sum(map(len, texts))
    return kept / whole if whole else 1.0
