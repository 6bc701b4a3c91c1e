"""Base of the evaluators that run a model on this machine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import Evaluator
from scoring.contract.items import Item
from scoring.contract.scores import EMPTY_SUMMARY, NOT_FINITE, Scored, isolate_not_finite
from scoring.contract.seen import EVERY_DIMENSION, Seen
from scoring.texts.near_duplicates import Sketches
from scoring.weights.model_card import RegisteredAs, read_card
from scoring.weights.model_files import digest, locate

LIBRARIES = ("torch", "transformers", "tokenizers")
"""Packages whose version may change a score."""
UNSCORED, SCORE = "unscored", "score"


def model_setting(
    *default: str,
    help: str = "Folder of the model, or its Hugging Face id.",
    label: str = "Model",
    may_be_empty: bool = False,
) -> Any:
    """Declare a setting that names a model's weights; without a default it is required."""
    return setting(
        *default,
        label=label,
        help=help,
        is_weights=True,
        pattern="" if may_be_empty else ".+",
        expected="a folder or an id",
        phrase="{}" if label == "Model" else "",
        details="An id is owner/name or owner/name@revision. Weights are read from safetensors files only.",
    )


def empty_summary_setting(note: str = "") -> Any:
    """Declare the setting `empty_summary`, for evaluators whose authors score empty summaries."""
    return setting(
        UNSCORED,
        label="Empty summaries",
        help="Treatment of summaries without text.",
        choices={UNSCORED: "not scored", SCORE: "scored like others"},
        phrase="empty summaries {}",
        details="score: as the authors do, although the score then describes only the other texts."
        f"{note and f' {note}'}",
    )


def precision_setting(help: str = "Number format of the computation.", group: str = "") -> Any:
    """Declare the setting `precision`."""
    return setting(
        "float32",
        label="Precision",
        help=help,
        choices={"float32": "float32", "bfloat16": "bfloat16"},
        group=group,
        details="bfloat16 is faster on a GPU and less exact: see the line bfloat16 above.",
    )


def max_length_setting(default: int, details: str = "", low: int = 16) -> Any:
    """Declare the setting `max_length`."""
    return setting(
        default,
        label="Maximum length",
        help="Longest input in tokens; less where the model allows less.",
        low=low,
        high=65_536,
        phrase="{} tokens at most",
        details=f"Special tokens are included.{details and f' {details}'}",
    )


def versions(libraries: Iterable[str] = LIBRARIES) -> dict[str, str]:
    """Return package -> its installed version."""
    return {name: version(name) for name in libraries}


@dataclass(frozen=True)
class ModelParams:
    """Common parameters; each evaluator declares its own default for `model`."""

    model: str = model_setting()
    precision: str = precision_setting()


class ModelEvaluator(Evaluator):
    """An evaluator with weights. A subclass defines `score_readable` and loads its model on first use."""

    queue = "gpu"
    batch_size = 128
    libraries: ClassVar[tuple[str, ...]] = LIBRARIES
    weights: ClassVar[str]
    """The authors' weights: their size, their source, and whether to convert them."""

    seen_reason = "article, or a near-duplicate, is in its training data"

    params: ModelParams

    @classmethod
    def registered_as(cls, model: str, dimension: str) -> RegisteredAs:  # noqa: ARG003 - subclasses use it
        """Return what the card of a registered `model` says; `dimension` is empty unless somebody named one.

        Raises ValueError for a dimension that is missing or impossible.
        """
        if dimension:
            raise ValueError(
                f"dimension: found {dimension!r}, expected none, since {cls.title} names its own"
            )
        return RegisteredAs(cls.dimensions, {})

    @cached_property
    def seen(self) -> Seen:  # type: ignore[override]  # read with the weights, on first use
        """Return the articles that the models were trained on, by their cards. Raises MissingWeights."""
        cards = list(filter(None, map(read_card, self._folders.values())))
        roles = {digest: role for card in cards for role, texts in card.articles.items() for digest in texts}
        near = Sketches(sketch for card in cards for sketch in card.sketches)
        digests = {EVERY_DIMENSION: frozenset(roles)} if roles else {}
        return Seen(text_digests=digests, near=near, roles=roles)

    @cached_property
    def _folders(self) -> Mapping[str, Path]:
        """Parameter -> the files that it names, if any."""
        return {name: locate(model) for name, model in self.models_for(self.params).items()}

    def folder(self, parameter: str = "model") -> Path:
        """Return the folder of the model that `parameter` names. Raises MissingWeights."""
        return self._folders[parameter]

    def provenance(self) -> Mapping[str, object]:
        """Return the hashes of all files named by parameters, and library versions. Raises MissingWeights."""
        return {
            "weights": {name: digest(folder) for name, folder in self._folders.items()},
            "libraries": versions(self.libraries),
        }

    def score(self, items: Sequence[Item]) -> list[Scored]:
        """Return one result per item: the reason for items with a `problem`, else from `score_readable`.

        If the model gives NaN, items are scored one by one, and only those to blame get the reason.
        """
        problems = [self.problem(item) for item in items]
        readable = [item for item, problem in zip(items, problems, strict=True) if problem is None]
        not_finite = Scored.unscored(self.dimensions, NOT_FINITE)
        results = iter(isolate_not_finite(readable, self.score_readable, not_finite) if readable else ())
        return [
            next(results) if problem is None else Scored.unscored(self.dimensions, problem)
            for problem in problems
        ]

    def problem(self, item: Item) -> str | None:
        """Return why no dimension of the item can be scored, or None: a required text is blank."""
        if is_blank(item.summary) and not self.scores_empty:
            return EMPTY_SUMMARY
        return self.lacking(item)

    @property
    def scores_empty(self) -> bool:
        """Return whether blank summaries are scored, by the parameter `empty_summary`."""
        return getattr(self.params, "empty_summary", UNSCORED) == SCORE

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        """Return one result per item, in order, for at least one item without a `problem`.

        May raise NotFinite.
        """
        raise NotImplementedError
