"""The input of evaluators: summaries to score, and labelled examples."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Item:
    """One summary to score. What is missing or not needed is None or an empty tuple."""

    id: str
    summary: str
    language: str | None = None
    article: str | None = None
    references: tuple[str, ...] = ()
    article_id: str | None = None
    article_digest: str = ""
    """`text_digest` of the article, also where the evaluator is not given its text."""
    article_sentences: tuple[str, ...] | None = None
    summary_sentences: tuple[str, ...] | None = None
    reference_sentences: tuple[str, ...] | None = None
    """Sentences of the first reference. Given sentences replace the built-in splitter."""
    questions: tuple[str, ...] | None = None
    answers: tuple[str, ...] | None = None
    """One for each of `questions`, which replace the generator of questions."""
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Name of a member -> dimension -> its finite score; missing where the member gave none."""


@dataclass(frozen=True, slots=True)
class PoolExample:
    """One summary with its human labels: dimension -> number in [0, 1], 1 is best."""

    id: str
    article_id: str
    summary: str
    labels: Mapping[str, float]
    article: str | None = None
    references: tuple[str, ...] = ()
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The same as in `Item`."""
    article_digest: str = ""
    """The same as in `Item`."""

    def __post_init__(self) -> None:
        for dimension, label in self.labels.items():
            if not 0 <= label <= 1:
                raise ValueError(
                    f"label {dimension!r} of pool example {self.id!r} is {label}, not a number from 0 to 1"
                )
