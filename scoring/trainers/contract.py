"""The contract of trainers: labelled texts in, a folder with weights out, no database and no settings.

A new trainer is one file in `scoring/trainers/`, one line in the table there and one test file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

VALIDATION_ARTICLES = "Validation articles"
"""The count of all trainers on which the intervals of measures depend."""


@dataclass(frozen=True, slots=True)
class TrainingItem:
    """One summary to learn from, with what is known about it."""

    id: str
    article_id: str
    article: str
    summary: str
    references: tuple[str, ...] = ()
    language: str | None = None
    labels: Mapping[str, float] = field(default_factory=dict)
    """Dimension -> label in [0, 1], 1 is best: the mean of raters' answers, of which yes is 1 and no 0."""
    answers: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Dimension -> each rater's answer in [0, 1], sorted; without it only their mean is known."""
    decided: Mapping[str, float] = field(default_factory=dict)
    """Dimension -> adjudicated answer in [0, 1]."""
    split: str = ""
    """The article's split: "train", "validation", "test" or empty."""
    article_digest: str = ""
    """`text_digest` of the article, where it is known already."""


class CannotTrain(Exception):
    """Training is impossible as asked; the message says what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class Point:
    """The state of a training after some steps: one point of each curve."""

    step: int
    epoch: float
    """Passes over the training examples so far."""
    loss: float | None = None
    """Mean loss per example since the last point with one."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Measures of the validation examples, such as "validation_loss"; empty between validations."""
    examples_per_s: float | None = None
    seconds_left: float | None = None
    """Estimated time left if no early stop comes first."""


class Watch(Protocol):
    """Follows a training."""

    def report(self, point: Point) -> None:
        """Receive the next point, in order of steps."""

    def is_cancelled(self) -> bool:
        """Return whether to stop now and keep the best so far. Called after each step; must be cheap."""


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The examples that a trainer learns from, after `prepare`."""

    train: Sequence[Any]
    """Examples, each of the trainer's own kind."""
    validation: Sequence[Any]
    counts: Mapping[str, int | float]
    """Names for people, such as "Training articles" -> counts, and shares as floats, in display order."""
    articles: Mapping[str, tuple[str, ...]]
    """"train" and "validation" -> text digests of the articles seen, sorted; no digest is in both."""
    dimensions: tuple[str, ...]
    """The dimensions of the evaluator's scores."""
    languages: tuple[str, ...]
    """Language codes, sorted."""
    texts: Mapping[str, str]
    """Text digest of each article seen -> its text."""
    digest: str
    """SHA-256 of all examples in order. Checkpoints of other data are refused."""
    warnings: tuple[str, ...] = ()
    """Sentences on data from which a model may learn something else than is meant."""


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training: the weights are in `folder/model`."""

    best_step: int
    """The step after which the saved weights were best."""
    measures: Mapping[str, float]
    """Measures of the validation examples at the best step."""
    cancelled: bool
    steps: int
    """Steps made in all."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Measure -> its 95% interval, for those that have one."""


def amount(number: int | float) -> str:
    """Return a count with separators, '4,812', or a share in percent, '82.6%'."""
    return f"{number:.1%}" if isinstance(number, float) else f"{number:,}"


class Trainer:
    """Base of all trainers; its docstring becomes the text on the page.

    Reading a declaration, constructing and `prepare` must stay cheap: torch and transformers are imported on
    first `train`.
    """

    name: ClassVar[str]
    """The trainer's name, and that of the evaluator that scores with the result."""
    title: ClassVar[str]
    source: ClassVar[str]
    """The paper followed."""
    help: ClassVar[str]
    """The use of the result, in one sentence."""
    examples: ClassVar[str] = "examples"
    """The name of its training examples, in the plural, such as "answers"."""
    Params: ClassVar[type[Any]]
    """Frozen dataclass of `annotation.declared.settings.setting` fields."""

    def __init__(self, params: Any) -> None:
        self.params = params

    @property
    def trains_all(self) -> bool:
        """True if all weights of the base model are trained, which takes four times their memory."""
        return True

    def prepare(self, items: Iterable[TrainingItem]) -> TrainingData:
        """Return what the method learns from in these items. Test articles are never in it.

        Raises CannotTrain if it does not suffice.
        """
        raise NotImplementedError

    def train(self, data: TrainingData, folder: Path, watch: Watch, origin: str = "") -> Trained:
        """Train, and write the evaluator's weights and model card to `folder/model`.

        `origin` names the project or file in the model card. Checkpoints are in `folder/checkpoints`: called
        again with the same folder, data and parameters after a crash, training goes on at the last one.
        Raises CannotTrain, also for checkpoints of other data or parameters, and EvaluatorError for a base
        model that cannot be loaded.
        """
        raise NotImplementedError
