from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import fsum
from typing import TYPE_CHECKING, Any

from scoring.contract import (
    GENERAL,
    NO_ARTICLE,
    NO_REFERENCE,
    OUT_OF_MEMORY,
    EvaluatorError,
    Item,
    Need,
    Scored,
    shares_read,
)
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams
from scoring.params import param
from scoring.texts.compared_texts import (
    combined,
    counted_references,
    long_article_param,
    references_param,
)

if TYPE_CHECKING:
    from scoring.neural.likelihood import Likelihood
    from scoring.neural.tokens import Tokens

TEXTS = {"src": "article", "hypo": "summary", "ref": "references"}
"""What the halves of a direction's name stand for."""

Asked = dict[tuple[str, str], list[tuple["Tokens", "Tokens"]]]
"""Prompt and direction -> pairs of source and target."""


class BartScore(ModelEvaluator):
    """How readily BART would write one text when given another: a mean log-probability, at most 0.

    The mean runs over all tokens of the text that is written, special ones among them, each predicted from
    those before it; logarithms are natural. `src_hypo` asks for the summary given the article (faithfulness),
    `ref_hypo` for the summary given a reference (precision), `hypo_ref` for a reference given the summary
    (recall). `avg_f` and `harm_f` are the arithmetic and the harmonic mean of the last two, once each of them
    has been taken over the references. The authors' program leaves the factor 2 out of the harmonic mean:
    `harm_f_authors`. It gives an empty text an ordinary score, too; here an empty summary has none and empty
    references are left out, unless `empty_texts` is `score`.
    """

    name = "bartscore"
    title = "BARTScore"
    version = 1
    source = "Yuan, Neubig and Liu 2021, BARTScore: Evaluating Generated Text as Text Generation"
    formula = "(1 / n) sum over t of log p(y_t | y_1 ... y_t-1, x), from text x to text y"
    weaknesses = (
        "Rewards what is copied and what is common: a fluent sentence about something else can be more "
        "probable than a faithful one in rare words. Numbers can be compared within one model only. The "
        "authors' models know English. Their program for summaries takes the spaces of tokenised texts away "
        "first (Moses detokeniser); here texts go in as they are."
    )
    cost = (
        "One pass of the encoder over each distinct source, one of the decoder over each distinct pair, of "
        "which what summaries of one article have in common at their beginnings is computed once."
    )
    weights = (
        "The authors use facebook/bart-large-cnn (1.6 GB). Their own, trained further on paraphrases "
        "(ParaBank 2), is a pickled state of the same model; write it as safetensors with: manage.py weights "
        "convert bart.pth --to FOLDER --configuration facebook/bart-large-cnn. Any other BART serves as well."
    )
    needs = frozenset({Need.ARTICLE})

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param("facebook/bart-large-cnn", doc=WEIGHTS_DOC, is_weights=True)
        direction: str = param(
            "src_hypo",
            choices=("src_hypo", "ref_hypo", "hypo_ref", "avg_f", "harm_f", "harm_f_authors"),
            doc="What is given and what is written: src the article, hypo the summary, ref a reference; or a "
            "mean of ref_hypo and hypo_ref, arithmetic (avg_f) or harmonic (harm_f; what the authors' "
            "program calls so lacks its factor 2, and is harm_f_authors here).",
        )
        references: str = references_param("mean")
        max_length: int = param(
            1024,
            low=8,
            doc="Longest text in tokens, special ones included; less where the model allows less.",
        )
        long_article: str = long_article_param()
        prompts: tuple[str, ...] = param(
            (),
            doc="Phrases such as 'In short' that lead from one text to the other; the score is the mean over "
            "them. None by default.",
        )
        prompt_place: str = param(
            "source",
            choices=("source", "target"),
            doc="Where a prompt stands: after the text that is given, kept when that is cut, or before the "
            "text that is written, and then among the tokens that count.",
        )
        empty_texts: str = param(
            "unscored",
            choices=("unscored", "score"),
            doc="Blank summaries, articles and references: without a score, or scored like any other text as "
            "by the authors.",
        )

    params: Params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        return frozenset({Need.ARTICLE if params.direction == "src_hypo" else Need.REFERENCES})

    @cached_property
    def _likelihood(self) -> "Likelihood":
        from scoring.neural.likelihood import Likelihood

        return Likelihood(self.folder(), self.params.precision)

    def problem(self, item: Item) -> str | None:
        if self.params.empty_texts == "unscored":
            return super().problem(item)
        if Need.ARTICLE in self.needs_for(self.params):
            return NO_ARTICLE if item.article is None else None
        return None if item.references else NO_REFERENCE

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        """Raises EvaluatorError where a prompt leaves no room for a text."""
        asked = [self._asked(item) for item in items]
        values = iter(
            self._likelihood.of(
                [
                    (source.ids, target.ids)
                    for each in asked
                    for pairs in each.values()
                    for source, target in pairs
                ]
            )
        )
        return [
            self._scored(each, {key: [next(values) for _ in pairs] for key, pairs in each.items()})
            for each in asked
        ]

    @property
    def _directions(self) -> tuple[str, ...]:
        mean_of_both = self.params.direction not in ("src_hypo", "ref_hypo", "hypo_ref")
        return ("ref_hypo", "hypo_ref") if mean_of_both else (self.params.direction,)

    def _asked(self, item: Item) -> Asked:
        texts = {"src": [item.article or ""], "hypo": [item.summary], "ref": self._references(item)}
        asked: Asked = {}
        for prompt, direction in product(self.params.prompts or ("",), self._directions):
            given, written = direction.split("_")
            in_parts = given == "src" and self.params.long_article != "cut"
            sources = [each for text in texts[given] for each in self._sources(text, prompt, in_parts)]
            targets = [self._target(text, prompt) for text in texts[written]]
            asked[prompt, direction] = list(product(sources, targets))
        return asked

    def _references(self, item: Item) -> list[str]:
        if self.params.empty_texts == "unscored":
            return counted_references(item, self.params.references)
        return list(item.references[:1] if self.params.references == "first" else item.references)

    def _sources(self, text: str, prompt: str, in_parts: bool) -> "list[Tokens]":
        from scoring.neural.tokens import chunks

        tokens = self._likelihood.tokens
        closing = tokens.closing
        if prompt and self.params.prompt_place == "source":
            closing = (*tokens.pieces([f" {prompt},"])[0], *closing)
        room = self._room(len(tokens.opening) + len(closing))
        [pieces] = tokens.pieces([text])
        parts = chunks(pieces, room) if in_parts else [pieces]
        return [tokens.between(tokens.opening, part, closing, self._limit) for part in parts]

    def _target(self, text: str, prompt: str) -> "Tokens":
        tokens = self._likelihood.tokens
        opening = tokens.opening
        if prompt and self.params.prompt_place == "target":
            opening = (*opening, *tokens.pieces([f"{prompt},"])[0])
            text = f" {text}"
        self._room(len(opening) + len(tokens.closing))
        return tokens.between(opening, tokens.pieces([text])[0], tokens.closing, self._limit)

    @property
    def _limit(self) -> int:
        return min(self.params.max_length, self._likelihood.limit)

    def _room(self, taken: int) -> int:
        """Tokens of a text that can be read beside those `taken` by specials and prompt."""
        if taken >= self._limit:
            raise EvaluatorError(
                f"A prompt and the special tokens take {taken} of {self._limit} tokens: no room for a text.",
                permanent=True,
            )
        return self._limit - taken

    def _scored(self, asked: Asked, values: Mapping[tuple[str, str], list[float | None]]) -> Scored:
        one_way = {key: self._one_way(key[1], each) for key, each in values.items()}
        known = {key: value for key, value in one_way.items() if value is not None}
        if len(known) < len(one_way):
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        by_prompt = [
            self._both_ways([known[prompt, direction] for direction in self._directions])
            for prompt in self.params.prompts or ("",)
        ]
        shares = shares_read(
            (TEXTS[name], tokens.share_read)
            for (_, direction), pairs in asked.items()
            for pair in pairs
            for name, tokens in zip(direction.split("_"), pair, strict=True)
        )
        return Scored.computed({GENERAL: fsum(by_prompt) / len(by_prompt)}, shares_read=shares)

    def _one_way(self, direction: str, values: Sequence[float | None]) -> float | None:
        """One value of those for several references or parts of an article; None if any is missing."""
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        return combined(
            known, self.params.long_article if direction == "src_hypo" else self.params.references
        )

    def _both_ways(self, values: Sequence[float]) -> float:
        """Mean of the values of one direction or of two, none of them above 0."""
        if self.params.direction in ("harm_f", "harm_f_authors") and any(values):
            halved = values[0] * values[1] / (values[0] + values[1])
            return halved if self.params.direction == "harm_f_authors" else 2 * halved
        return fsum(values) / len(values)
