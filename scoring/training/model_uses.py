"""The uses of a trained model: setups with its scores, and trainings that began with it."""

from dataclasses import dataclass
from functools import cache

from django.db.models import Q

from annotation.declared.settings import settings_of
from scoring.errors import ModelInUse
from scoring.models import Run, Setup, Training
from scoring.training.registering import registrable
from scoring.weights.model_files import TRAINED


@dataclass(frozen=True)
class ModelUses:
    """Setups and trainings that depend on a model, in all projects."""

    setups: list[Setup]
    """Setups with scores by the model, or with runs that make some."""
    trainings: list[Training]
    """Trainings that began with the model."""

    def __bool__(self) -> bool:
        return bool(self.setups or self.trainings)


def uses_of(name: str) -> ModelUses:
    """Return what depends on the model of this name."""
    model = f"{TRAINED}/{name}"
    named = Q()
    for parameter in _weights_parameters():
        named |= Q(**{f"params__{parameter}": model})
    setups = Setup.objects.select_related("project").defer("pool", "corpus").filter(named)
    return ModelUses(list(setups), list(Training.objects.defer("pool").filter(params__model=model)))


def refuse_in_use(name: str) -> None:
    """Raise ModelInUse while a run or a training with the model is in progress."""
    if reason := use_in_progress(name):
        raise ModelInUse(reason)


def use_in_progress(name: str) -> str:
    """Return why the model's files must stay for now, and what to do; empty if they need not."""
    uses = uses_of(name)
    if Run.objects.filter(setup__in=uses.setups, status__in=Run.UNFINISHED).exists():
        return f"A run with {name} is in progress. Cancel it or wait until it ends."
    if any(each.is_unfinished for each in uses.trainings):
        return f"A training from {name} is in progress. Cancel it or wait until it ends."
    return ""


@cache
def _weights_parameters() -> frozenset[str]:
    """Return the names of the parameters that name models."""
    return frozenset(
        spec.name for each in registrable() for spec in settings_of(each.Params) if spec.is_weights
    )
