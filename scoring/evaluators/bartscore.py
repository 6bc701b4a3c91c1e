from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from math import fsum
from typing import TYPE_CHECKING, Any

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, EvaluatorError, Need
from scoring.contract.items import Item
from scoring.contract.scores import NO_ARTICLE, NO_REFERENCE, OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import (
    ModelEvaluator,
    ModelParams,
    max_length_setting,
    model_setting,
)
from scoring.texts.compared_texts import (
    combined,
    counted_references,
    long_article_setting,
    references_setting,
)

if TYPE_CHECKING:
    from scoring.neural.likelihood import Likelihood
    from scoring.neural.tokens import Tokens

TEXTS = {"src": "article", "hypo": "summary", "ref": "references"}
"""The halves of a direction's name -> the texts they stand for."""

Asked = dict[tuple[str, str], list[tuple["Tokens", "Tokens"]]]
"""Prompt and direction -> pairs of source and target."""


class BartScore(ModelEvaluator):
    """The mean log-probability with which BART writes one text given another: at most 0.

    The mean is over all tokens of the written text, including special ones, each predicted from those before
    it; logarithms are natural. `src_hypo` is the summary given the article (faithfulness), `ref_hypo` the
    summary given a reference (precision), `hypo_ref` a reference given the summary (recall). `avg_f` and
    `harm_f` are the arithmetic and the harmonic mean of the last two, after each is combined over the
    references. The authors' program omits the factor 2 of the harmonic mean: `harm_f_authors`. It also scores
    empty texts; here an empty summary has no score and empty references are left out, unless `empty_texts` is
    `score`.
    """

    name = "bartscore"
    title = "BARTScore"
    version = 1
    source = "Yuan, Neubig and Liu 2021, BARTScore: Evaluating Generated Text as Text Generation"
    formula = "(1 / n) sum over t of log p(y_t | y_1 ... y_t-1, x), from text x to text y"
    weaknesses = (
        "Rewards copies and common words: a fluent sentence about something else can be more probable than "
        "a faithful one in rare words. Scores of different models cannot be compared. The authors' models "
        "know English. Their program for summaries first detokenises texts (Moses); here texts are read "
        "unchanged."
    )
    cost = (
        "One pass of the encoder per distinct source and one of the decoder per distinct pair; common "
        "beginnings of summaries of one article are computed once."
    )
    weights = (
        "The authors use facebook/bart-large-cnn (1.6 GB). Their own, trained further on paraphrases "
        "(ParaBank 2), is a pickled state of the same model; write it as safetensors with: manage.py weights "
        "convert bart.pth --to FOLDER --configuration facebook/bart-large-cnn. Any other BART serves as well."
    )
    needs = frozenset({Need.ARTICLE})

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("facebook/bart-large-cnn")
        direction: str = setting(
            "src_hypo",
            label="Direction",
            help="The given text and the predicted text.",
            choices={
                "src_hypo": "article to summary",
                "ref_hypo": "reference to summary",
                "hypo_ref": "summary to reference",
                "avg_f": "F (arithmetic mean)",
                "harm_f": "F (harmonic mean)",
                "harm_f_authors": "F (authors' harmonic mean)",
            },
            details="src is the article, hypo the summary, ref a reference. avg_f and harm_f are means of "
            "ref_hypo and hypo_ref; the authors' program leaves out the factor 2 of the harmonic "
            "mean (harm_f_authors).",
        )
        references: str = references_setting("mean")
        max_length: int = max_length_setting(1024, low=8)
        long_article: str = long_article_setting()
        prompts: tuple[str, ...] = setting(
            (),
            label="Prompts",
            help="Phrases such as 'In short' that connect the texts; scores are averaged.",
            phrase="prompts: {}",
        )
        prompt_place: str = setting(
            "source",
            label="Prompt position",
            help="Position of a prompt.",
            choices={"source": "after the given text", "target": "before the predicted text"},
            phrase="prompt {}",
            details="source: it is kept when the given text is cut; target: its tokens count towards "
            "the score.",
        )
        empty_texts: str = setting(
            "unscored",
            label="Empty texts",
            help="Treatment of blank summaries, articles and references.",
            choices={"unscored": "not scored", "score": "scored like others"},
            phrase="empty texts {}",
            details="score: as in the authors' program.",
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
        """Return one result per item. Raises EvaluatorError if a prompt leaves no room for a text."""
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
            try:
                pairs = product(
                    self._sources(texts[given], prompt, in_parts), self._targets(texts[written], prompt)
                )
            except ValueError as error:
                raise EvaluatorError(
                    f"The prompt {prompt!r} is too long: {error}.", permanent=True
                ) from error
            asked[prompt, direction] = list(pairs)
        return asked

    def _sources(self, texts: Sequence[str], prompt: str, in_parts: bool) -> "Iterable[Tokens]":
        after: Sequence[int] = ()
        if prompt and self.params.prompt_place == "source":
            [after] = self._likelihood.tokens.pieces([f" {prompt},"])
        return chain.from_iterable(self._read(texts, in_parts=in_parts, after=after))

    def _targets(self, texts: Sequence[str], prompt: str) -> "Iterable[Tokens]":
        before: Sequence[int] = ()
        if prompt and self.params.prompt_place == "target":
            [before] = self._likelihood.tokens.pieces([f"{prompt},"])
            texts = [f" {text}" for text in texts]
        return chain.from_iterable(self._read(texts, before=before))

    def _read(self, texts: Sequence[str], **around: Any) -> "list[list[Tokens]]":
        limit = min(self.params.max_length, self._likelihood.limit)
        return self._likelihood.tokens.read(texts, limit, **around)

    def _references(self, item: Item) -> list[str]:
        if self.params.empty_texts == "unscored":
            return counted_references(item, self.params.references)
        return list(item.references[:1] if self.params.references == "first" else item.references)

    def _scored(self, asked: Asked, values: Mapping[tuple[str, str], list[float | None]]) -> Scored:
        one_way = [self._one_way(direction, each) for (_, direction), each in values.items()]
        known = [value for value in one_way if value is not None]
        if len(known) < len(one_way):
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        shares = shares_read(
            (TEXTS[name], tokens.share_read)
            for (_, direction), pairs in asked.items()
            for pair in pairs
            for name, tokens in zip(direction.split("_"), pair, strict=True)
        )
        ways = len(self._directions)
        by_prompt = [self._both_ways(known[at : at + ways]) for at in range(0, len(known), ways)]
        return Scored.computed({GENERAL: fsum(by_prompt) / len(by_prompt)}, shares_read=shares)

    def _one_way(self, direction: str, values: Sequence[float | None]) -> float | None:
        """Combine the values of several references or parts of an article; None if any is missing."""
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        return combined(
            known, self.params.long_article if direction == "src_hypo" else self.params.references
        )

    def _both_ways(self, values: Sequence[float]) -> float:
        """Return the mean of the values of one direction or of two, none of them above 0."""
        if self.params.direction in ("harm_f", "harm_f_authors") and any(values):
            halved = values[0] * values[1] / (values[0] + values[1])
            return halved if self.params.direction == "harm_f_authors" else 2 * halved
        return fsum(values) / len(values)
