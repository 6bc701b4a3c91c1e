"""Base of the evaluators that run a model of their own on this machine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from scoring.contract import EMPTY_SUMMARY, NO_ARTICLE, NO_REFERENCE, Evaluator, Item, Need, Scored
from scoring.params import param
from scoring.texts.compared_texts import readable_references
from scoring.weights import digest, locate

WEIGHTS_DOC = (
    "Folder of the model, or its id on the Hugging Face hub (owner/name, or owner/name@revision); weights "
    "are read from safetensors files only."
)


LIBRARIES = ("torch", "transformers", "tokenizers")
"""Packages whose version may move a number."""
UNSCORED, SCORE = "unscored", "score"


def empty_summary_param(where: str = "") -> Any:
    """The parameter `empty_summary`, for evaluators whose authors give such a summary an ordinary score.

    `where` adds what it does not apply to.
    """
    return param(
        UNSCORED,
        choices=(UNSCORED, SCORE),
        doc="A summary without text: unscored, or scored like any other, as the authors do, although what "
        f"the number says is nothing but what the other texts are.{where and f' {where}'}",
    )


def precision_param(what: str = "Numbers the model computes with.", group: str = "") -> Any:
    """The parameter `precision`."""
    return param(
        "float32",
        choices=("float32", "bfloat16"),
        doc=f"{what} bfloat16 is faster on a GPU and moves scores by about 1e-3.",
        group=group,
    )


def versions(libraries: Iterable[str] = LIBRARIES) -> dict[str, str]:
    """Package -> its version here."""
    return {name: version(name) for name in libraries}


@dataclass(frozen=True)
class ModelParams:
    """Parameters that all of them have; each declares its own default for `model`."""

    model: str = param(doc=WEIGHTS_DOC, is_weights=True)
    precision: str = precision_param()


class ModelEvaluator(Evaluator):
    """An evaluator with weights. A subclass gives `score_readable`, which loads its model on first use."""

    queue = "gpu"
    batch_size = 128
    libraries: ClassVar[tuple[str, ...]] = LIBRARIES
    weights: ClassVar[str]
    """Which weights the authors use, how large they are, where they come from; what to convert."""

    params: ModelParams

    @cached_property
    def _folders(self) -> Mapping[str, Path]:
        """Parameter -> where the files it names are, for those that name some."""
        return {name: locate(model) for name, model in self.models_for(self.params).items()}

    def folder(self, parameter: str = "model") -> Path:
        """Where the files of the model are that `parameter` names. Raises MissingWeights."""
        return self._folders[parameter]

    def provenance(self) -> Mapping[str, object]:
        """Hashes of all files named by parameters, and versions of libraries. Raises MissingWeights."""
        return {
            "weights": {name: digest(folder) for name, folder in self._folders.items()},
            "libraries": versions(self.libraries),
        }

    def score(self, items: Sequence[Item]) -> list[Scored]:
        """Items that cannot be scored get their reason; all others go to `score_readable` together."""
        problems = [self.problem(item) for item in items]
        readable = [item for item, problem in zip(items, problems, strict=True) if problem is None]
        results = iter(self.score_readable(readable) if readable else ())
        return [
            next(results) if problem is None else Scored.unscored(self.dimensions, problem)
            for problem in problems
        ]

    def problem(self, item: Item) -> str | None:
        """Why no dimension of the item can be scored, or None: a text that is needed is blank."""
        if not item.summary.strip() and not self.scores_empty:
            return EMPTY_SUMMARY
        return self.lacking(item)

    @property
    def scores_empty(self) -> bool:
        """Whether a blank summary is scored: where there is a parameter `empty_summary` that says so."""
        return getattr(self.params, "empty_summary", UNSCORED) == SCORE

    def lacking(self, item: Item) -> str | None:
        """Which text beside the summary the item lacks, or None."""
        needs = self.needs_for(self.params)
        if Need.ARTICLE in needs and not (item.article or "").strip():
            return NO_ARTICLE
        if Need.REFERENCES in needs and not readable_references(item):
            return NO_REFERENCE
        return None

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        """One result per item, in their order, for items without a `problem`; at least one item."""
        raise NotImplementedError
