"""What an evaluator is: values in, values out, no database and no settings.

A new evaluator is one file in `scoring/evaluators/`, one line in the table there and one test file.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal, Self

from scoring.digests import sha256_of
from scoring.params import declared_params

Queue = Literal["cpu", "gpu", "llm"]

GENERAL = "general"
"""Dimension of evaluators that speak of no dimension in particular; it is compared with every one."""

EMPTY_SUMMARY = "empty summary"
NO_ARTICLE = "no article"
NO_REFERENCE = "no reference"
OUT_OF_MEMORY = "out of memory"
NOT_FINITE = "the model gave no finite number"


class Need(StrEnum):
    """What an evaluator must be handed beside the summary, as far as it exists."""

    ARTICLE = "article"
    REFERENCES = "references"
    LABELLED_POOL = "labelled_pool"
    CORPUS = "corpus"
    """All items of the run, before the first is scored: how rare a word is depends on them."""
    SCORES = "scores"
    """What other setups, its members, have scored."""


@dataclass(frozen=True, slots=True)
class Item:
    """One summary to be scored. What is missing, or was not asked for, is None or an empty tuple."""

    id: str
    summary: str
    language: str | None = None
    article: str | None = None
    references: tuple[str, ...] = ()
    article_id: str | None = None
    article_sentences: tuple[str, ...] | None = None
    summary_sentences: tuple[str, ...] | None = None
    reference_sentences: tuple[str, ...] | None = None
    """Sentences of the first reference. Given sentences go before any built-in splitter."""
    questions: tuple[str, ...] | None = None
    answers: tuple[str, ...] | None = None
    """One for each of `questions`, which go before any generator of questions."""
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Name of a member -> dimension -> its finite score; without what the member could not score."""


@dataclass(frozen=True, slots=True)
class Member:
    """A setup whose scores an evaluator of evaluators is handed."""

    name: str
    """As in `Item.scores`."""
    label: str
    """As people know it."""
    dimensions: tuple[str, ...]
    fingerprint: str = ""
    """Empty where the scores come from a file."""
    higher_is_better: bool = True
    seen_articles: frozenset[str] = frozenset()
    """Ids of the articles that it has learnt from."""
    is_out_of_fold: bool = False
    """As of an `Evaluator`, or because one of its own members is."""


@dataclass(frozen=True, slots=True)
class PoolExample:
    """One summary with its human labels: dimension -> number in [0, 1], 1 best, already scaled."""

    id: str
    article_id: str
    summary: str
    labels: Mapping[str, float]
    article: str | None = None
    references: tuple[str, ...] = ()
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """As in `Item`."""

    def __post_init__(self) -> None:
        for dimension, label in self.labels.items():
            if not 0 <= label <= 1:
                raise ValueError(
                    f"label {dimension!r} of pool example {self.id!r} is {label}, not a number from 0 to 1"
                )


@dataclass(frozen=True, slots=True)
class Scored:
    """What an evaluator says of one summary: for each of its dimensions a finite number, or nan and why.

    `explanations` keeps, per dimension, what stands behind the number or its absence (a model's reply).
    `shares_read` has the texts that a model's limit cut ("article", "summary", "references"): the share of
    the text's tokens that was read, in [0, 1); a text read whole is left out.
    """

    values: Mapping[str, float]
    reasons: Mapping[str, str] = field(default_factory=dict)
    explanations: Mapping[str, str] = field(default_factory=dict)
    shares_read: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for dimension, value in self.values.items():
            if math.isinf(value):
                raise ValueError(f"score of {dimension!r} is infinite")
            if math.isnan(value) != bool(self.reasons.get(dimension)):
                raise ValueError(f"{dimension!r} is {value}: a reason goes with nan, and only with nan")
        for text, share in self.shares_read.items():
            if not 0 <= share < 1:
                raise ValueError(f"share read of {text!r} is {share}, not from 0 to below 1")

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Self:
        return cls(values)

    @classmethod
    def computed(
        cls,
        values: Mapping[str, float],
        reasons: Mapping[str, str] | None = None,
        explanations: Mapping[str, str] | None = None,
        shares_read: Mapping[str, float] | None = None,
    ) -> Self:
        """What a model computed; a number that is not finite is nan, with NOT_FINITE if it has no reason."""
        lost = {name: NOT_FINITE for name, value in values.items() if not math.isfinite(value)}
        return cls(
            {name: math.nan if name in lost else value for name, value in values.items()},
            lost | dict(reasons or {}),
            explanations or {},
            shares_read or {},
        )

    @classmethod
    def unscored(cls, dimensions: Iterable[str], reason: str) -> Self:
        dimensions = tuple(dimensions)
        return cls(dict.fromkeys(dimensions, math.nan), dict.fromkeys(dimensions, reason))


def shares_read(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Text's name -> share read, the smallest if it occurs more than once; without texts read whole."""
    found: dict[str, float] = {}
    for name, share in shares:
        if share < 1:
            found[name] = min(share, found.get(name, 1.0))
    return found


def shares_in_words(shares: Mapping[str, float]) -> str:
    """Such as "read: 71% of the article"; empty where all was read."""
    return (
        "read: " + ", ".join(f"{share:.0%} of the {name}" for name, share in shares.items()) if shares else ""
    )


class EvaluatorError(Exception):
    """The outside world failed: an endpoint, a file of weights, a pool too small.

    `permanent` says that trying again cannot help (wrong key, unknown model).
    """

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


@dataclass(frozen=True, slots=True)
class Seen:
    """What a fitted evaluator has learnt from. No summary of these articles may count when it is judged."""

    article_ids: frozenset[str] = frozenset()
    example_ids: tuple[str, ...] = ()
    digest: str = ""
    """SHA-256 over the examples' texts and labels; empty when nothing was seen."""

    @classmethod
    def of(cls, examples: Iterable[PoolExample]) -> Self:
        """Order and repetition of `examples` do not matter."""
        unique = sorted({example.id: example for example in examples}.values(), key=lambda each: each.id)
        content = [
            [each.id, each.article_id, each.article, each.summary, each.references, dict(each.labels)]
            for each in unique
        ]
        return cls(
            article_ids=frozenset(each.article_id for each in unique),
            example_ids=tuple(each.id for each in unique),
            digest=sha256_of(content),
        )


class Evaluator:
    """Base of all evaluators; its docstring becomes the text on the page and in docs/evaluators.md.

    Reading a declaration, constructing and fingerprinting must stay cheap: torch, openai, nltk and weights
    are loaded on first `score`, so that web processes never load them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[int]
    """Raised when any score would change."""
    source: ClassVar[str]
    """The paper or definition followed."""
    formula: ClassVar[str] = ""
    """In one line of plain text, where the docstring's words do not say it all."""
    weaknesses: ClassVar[str] = ""
    """What it is known to get wrong."""
    cost: ClassVar[str] = ""
    """What a score takes: passes of a model, requests."""
    Params: ClassVar[type[Any]]
    """Frozen dataclass of `scoring.params.param` fields."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    """Needs under default parameters; `needs_for` is the rule."""
    dimensions: tuple[str, ...] = (GENERAL,)
    """One value each; empty until `fit` where they come from the pool."""
    higher_is_better: ClassVar[bool] = True
    languages: ClassVar[frozenset[str] | None] = None
    """Language codes, or None for any."""
    deterministic: ClassVar[bool] = True
    queue: ClassVar[Queue] = "cpu"
    """Which workers score, under default parameters; `queue_for` is the rule."""
    batch_size: ClassVar[int] = 512
    """Summaries a worker claims at a time; no score may depend on it."""
    seen_reason: ClassVar[str] = "article is in the labelled pool"
    """Why a summary of an article in `seen` is not scored."""
    is_out_of_fold: ClassVar[bool] = False
    """Whether what it says of a summary depends on labels of other articles only, though it may have learnt
    from all: then the articles of its pool are not in `seen`, only those of its members."""

    seen: Seen = Seen()
    members: tuple[Member, ...] = ()
    """Whom `appoint` was given."""
    corpus: Iterable[Item] = ()
    """What `survey` was given; can be gone through more than once."""
    corpus_digest: str = ""
    """SHA-256 over the texts of the corpus, whatever their order; empty without one."""

    def __init__(self, params: Any) -> None:
        self.params = params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:  # noqa: ARG003 - for those whose needs depend on it
        return cls.needs

    def appoint(self, members: Sequence[Member]) -> None:
        """Only with Need.SCORES, once, before `fit` and `survey`; what members have seen counts as seen."""
        self.members = tuple(members)
        self.seen = Seen(frozenset[str]().union(*(each.seen_articles for each in members)))

    @classmethod
    def queue_for(cls, params: Any) -> Queue:  # noqa: ARG003 - for those whose queue depends on it
        return cls.queue

    @classmethod
    def models_for(cls, params: Any) -> dict[str, str]:
        """Parameter -> the model on this machine that it names, for those that name one."""
        named = {
            spec.name: getattr(params, spec.name) for spec in declared_params(type(params)) if spec.is_weights
        }
        return {name: model for name, model in named.items() if model}

    def fit(self, pool: Sequence[PoolExample]) -> None:
        """Only with Need.LABELLED_POOL, once, before `score`: learn from the pool and set `seen`.

        Raises EvaluatorError when the pool cannot serve.
        """
        raise NotImplementedError(f"{self.name} takes no labelled pool")

    def survey(self, corpus: Iterable[Item]) -> None:
        """Only with Need.CORPUS, once, before `score`: remember the run's items, for `score` to look at.

        `corpus` must give the same items each time it is gone through. Costs one pass over its texts.
        """
        self.corpus = corpus
        digests = sorted(
            sha256_of([each.summary, each.article, each.references, *([each.scores] if each.scores else [])])
            for each in corpus
        )
        self.corpus_digest = sha256_of(digests)

    def provenance(self) -> Mapping[str, object]:
        """What the numbers depend on beyond name, version, parameters and `seen`; must fit into JSON.

        Prompt texts, drawn examples, hashes of weights, versions of the libraries that move a number.
        """
        return {}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        """One result per item, in their order. Raises EvaluatorError when the outside world fails."""
        raise NotImplementedError


def language_problem(evaluator: Evaluator, language: str | None) -> str | None:
    """Why the evaluator cannot score texts in this language, or None. An unknown language may be any."""
    if evaluator.languages is None or language is None or _without_region(language) in evaluator.languages:
        return None
    return f"language {language} is none of {', '.join(sorted(evaluator.languages))}"


def foreseen_problem(evaluator: Evaluator, item: Item) -> str | None:
    """Why the item is known to stay without a score, on some dimension at least; None where nothing is."""
    needs = evaluator.needs_for(evaluator.params)
    if item.article_id in evaluator.seen.article_ids:
        return evaluator.seen_reason
    if Need.ARTICLE in needs and not (item.article or "").strip():
        return NO_ARTICLE
    if Need.REFERENCES in needs and not any(text.strip() for text in item.references):
        return NO_REFERENCE
    return language_problem(evaluator, item.language)


def score_unseen(evaluator: Evaluator, items: Sequence[Item]) -> list[Scored]:
    """Score `items`, all but those whose article the evaluator has learnt from or whose language it lacks.

    These get the reason instead. Raises RuntimeError when the evaluator breaks the contract (number of
    results, dimensions).
    """
    seen = evaluator.seen.article_ids
    barred: dict[int, str] = {}
    for index, item in enumerate(items):
        if seen and item.article_id is None:
            barred[index] = "article_id is missing, so it cannot be checked against the labelled pool"
        elif item.article_id in seen:
            barred[index] = evaluator.seen_reason
        elif problem := language_problem(evaluator, item.language):
            barred[index] = problem
    scored = evaluator.score([item for index, item in enumerate(items) if index not in barred])
    if len(scored) != len(items) - len(barred):
        raise RuntimeError(
            f"{evaluator.name} gave {len(scored)} results for {len(items) - len(barred)} items"
        )
    for each in scored:
        if set(each.values) != set(evaluator.dimensions):
            raise RuntimeError(
                f"{evaluator.name} declares {evaluator.dimensions}, but scored {tuple(each.values)}"
            )
    answers = iter(scored)
    return [
        Scored.unscored(evaluator.dimensions, barred[index]) if index in barred else next(answers)
        for index in range(len(items))
    ]


def _without_region(language: str) -> str:
    return re.split("[-_]", language)[0].lower()
