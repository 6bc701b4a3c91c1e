"""The contract of evaluators: values in, values out, no database and no settings.

A new evaluator is one file in `scoring/evaluators/`, one line in the table there and one test file.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal

from annotation.declared.settings import settings_of
from annotation.imports.reading.blank_texts import is_blank
from annotation.texts.text_digests import sha256_of
from scoring.contract.items import Item, PoolExample
from scoring.contract.params import parameter_phrases
from scoring.contract.scores import NO_ARTICLE, NO_REFERENCE, Scored
from scoring.contract.seen import Seen

Queue = Literal["cpu", "gpu", "llm"]

GENERAL = "general"
"""Dimension of evaluators without particular dimensions; it is compared with every question."""


class Need(StrEnum):
    """A text or setting that an evaluator needs beside the summary."""

    ARTICLE = "article"
    REFERENCES = "references"
    LABELLED_POOL = "labelled_pool"
    CORPUS = "corpus"
    """All items of the run before the first is scored, for example to weight words by rarity."""
    SCORES = "scores"
    """The scores of other setups, its members."""


class EvaluatorError(Exception):
    """Scoring failed for an outside reason: an endpoint, missing weights, a pool too small.

    `permanent` says that a retry cannot help (wrong key, unknown model).
    """

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


@dataclass(frozen=True, slots=True)
class Member:
    """A setup whose scores another evaluator combines or calibrates."""

    name: str
    """The member's key in `Item.scores`."""
    label: str
    """The setup's name for people."""
    dimensions: tuple[str, ...]
    fingerprint: str = ""
    """The setup's fingerprint; empty if the scores come from a file."""
    higher_is_better: bool = True
    seen: Seen = field(default_factory=Seen)
    is_out_of_fold: bool = False
    """The same as in `Evaluator`; also True if one of its own members is out of fold."""


class Evaluator:
    """Base of all evaluators; its docstring becomes the text on the page and in docs/evaluators.md.

    Reading a declaration, constructing and fingerprinting must stay cheap: torch, openai and weights are
    loaded on first `score`, so that web processes never load them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[int]
    """Version of the scores; increased when any score would change."""
    source: ClassVar[str]
    """The paper or definition followed."""
    formula: ClassVar[str] = ""
    """One line of plain text."""
    weaknesses: ClassVar[str] = ""
    """Known errors of the evaluator."""
    cost: ClassVar[str] = ""
    """The cost of a score: passes of a model, requests."""
    Params: ClassVar[type[Any]]
    """Frozen dataclass of `scoring.contract.params.param` fields."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    """Needs under default parameters; `needs_for` is the rule."""
    dimensions: tuple[str, ...] = (GENERAL,)
    """Dimensions of the scores, one value each; empty until `fit` if they come from the pool."""
    higher_is_better: ClassVar[bool] = True
    languages: ClassVar[frozenset[str] | None] = None
    """Language codes, or None for any."""
    deterministic: ClassVar[bool] = True
    queue: ClassVar[Queue] = "cpu"
    """The queue of the workers that score, under default parameters; `queue_for` is the rule."""
    batch_size: ClassVar[int] = 512
    """Summaries a worker claims at a time; no score may depend on it."""
    seen_reason: ClassVar[str] = "article is in the labelled pool"
    """The reason why a summary of an article in `seen` is not scored on a dimension."""
    is_out_of_fold: ClassVar[bool] = False
    """True if a summary's score depends only on labels of other articles, although it learns from all.
    Then `seen` has the articles of its members, not those of its pool."""

    seen: Seen = Seen()
    members: tuple[Member, ...] = ()
    """Members that `use_members` gave."""
    corpus: Iterable[Item] = ()
    """Items that `see_corpus` gave; can be iterated more than once."""
    corpus_digest: str = ""
    """SHA-256 of the texts of the corpus in any order; empty without one."""

    def __init__(self, params: Any) -> None:
        self.params = params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        """Return the needs under these parameters, of which `against` names the text to compare with."""
        against = getattr(params, "against", None)
        return cls.needs - {Need.ARTICLE, Need.REFERENCES} | {Need(against)} if against else cls.needs

    def lacking(self, item: Item) -> str | None:
        """Return the text beside the summary that the item lacks, or None."""
        needs = self.needs_for(self.params)
        if Need.ARTICLE in needs and is_blank(item.article or ""):
            return NO_ARTICLE
        if Need.REFERENCES in needs and all(map(is_blank, item.references)):
            return NO_REFERENCE
        return None

    def use_members(self, members: Sequence[Member]) -> None:
        """Set the members, with Need.SCORES: once, before `fit` and `see_corpus`; adds to `seen`."""
        self.members = tuple(members)
        self.seen = Seen.by_any([each.seen for each in members])

    def headline(self) -> tuple[str, frozenset[str]]:
        """Return how a setup's name begins, and the parameters that this covers."""
        return self.title, frozenset()

    def name_parts(self) -> list[str]:
        """Return the parts of the setup's name: the headline, then what differs from the defaults."""
        beginning, said = self.headline()
        setups = {member.name: member.label for member in self.members}
        unsaid = said | self.unused_params(self.params)
        return [beginning, *parameter_phrases(self.params, unsaid, setups)]

    @classmethod
    def unused_params(cls, params: Any) -> frozenset[str]:  # noqa: ARG003 - subclasses use it
        """Return the parameters that change no score beside the others, such as a timeout.

        They are in neither the fingerprint nor the name of a setup.
        """
        return frozenset()

    @classmethod
    def queue_for(cls, params: Any) -> Queue:  # noqa: ARG003 - subclasses use it
        return cls.queue

    @classmethod
    def models_for(cls, params: Any) -> dict[str, str]:
        """Return parameter -> the local model that it names, without empty ones."""
        named = {
            spec.name: getattr(params, spec.name) for spec in settings_of(type(params)) if spec.is_weights
        }
        return {name: model for name, model in named.items() if model}

    def fit(self, pool: Sequence[PoolExample]) -> None:
        """Learn from the pool and set `seen`, with Need.LABELLED_POOL: once, before `score`.

        Raises EvaluatorError if the pool does not suffice.
        """
        raise NotImplementedError(f"{self.name} takes no labelled pool")

    def see_corpus(self, corpus: Iterable[Item]) -> None:
        """Remember the run's items, with Need.CORPUS: once, before `score`.

        `corpus` must give the same items on each iteration. This takes one pass over its texts.
        """
        self.corpus = corpus
        digests = sorted(
            sha256_of([each.summary, each.article, each.references, *([each.scores] if each.scores else [])])
            for each in corpus
        )
        self.corpus_digest = sha256_of(digests)

    def provenance(self) -> Mapping[str, object]:
        """Return what scores depend on beyond name, version, parameters and `seen`, as JSON values.

        Such as prompt texts, drawn examples, hashes of weights, and versions of libraries.
        """
        return {}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        """Return one result per item, in order. Raises EvaluatorError on outside failures."""
        raise NotImplementedError


def language_problem(evaluator: Evaluator, language: str | None) -> str | None:
    """Return why the evaluator cannot score this language, or None. An unknown one may be any."""
    if evaluator.languages is None or language is None:
        return None
    if re.split("[-_]", language)[0].lower() in evaluator.languages:
        return None
    return f"language {language} is none of {', '.join(sorted(evaluator.languages))}"


def foreseen_problem(evaluator: Evaluator, item: Item) -> str | None:
    """Return why the item will have no score on some dimension, or None."""
    if evaluator.seen.dimensions_of(item, evaluator.dimensions):
        return evaluator.seen_reason
    return evaluator.lacking(item) or language_problem(evaluator, item.language)


def score_unseen(evaluator: Evaluator, items: Sequence[Item]) -> list[Scored]:
    """Score `items`, except those of seen articles or unsupported languages, which get the reason.

    An item of an article that was seen in some of the dimensions is scored on the others.
    Raises RuntimeError if the evaluator breaks the contract (number of results, dimensions).
    """
    seen_in = [evaluator.seen.dimensions_of(item, evaluator.dimensions) for item in items]
    barred: dict[int, str] = {}
    for index, item in enumerate(items):
        if problem := evaluator.seen.cannot_be_checked(item):
            barred[index] = problem
        elif evaluator.dimensions and len(seen_in[index]) == len(evaluator.dimensions):
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
        Scored.unscored(evaluator.dimensions, barred[index])
        if index in barred
        else next(answers).without(seen_in[index], evaluator.seen_reason)
        for index in range(len(items))
    ]
