"""Errors of runs, trainings and endpoints, beside those of `annotation.errors`."""

from collections.abc import Mapping

from annotation.errors import DomainError


class InvalidRun(DomainError):
    """The evaluator, its parameters or the labelled pool do not make a run."""


class RunBusy(DomainError):
    """The run's state does not allow the action."""

    status = 409


class InvalidTraining(DomainError):
    """The method, its parameters, its name or the project's summaries do not make a training.

    Also a model that cannot be registered or imported; the message begins with the field.
    """


class TrainingBusy(DomainError):
    """The training's state does not allow the action."""

    status = 409


class InvalidLearningCurve(DomainError):
    """The name, the shares, the seeds or the project's summaries do not make a learning curve."""


class ModelInUse(DomainError):
    """A trained model cannot be renamed or deleted, because something depends on it."""

    status = 409


class InvalidDimension(DomainError):
    """A dimension cannot be as it was given; `fields` maps name, description or sees to what is wrong."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__(" ".join(self.fields.values()))


class InvalidExperiment(DomainError):
    """Some members of a run experiment cannot be: `refused` has each one's value or label, and why."""

    def __init__(self, refused: Mapping[str, str]) -> None:
        self.refused = dict(refused)
        super().__init__("; ".join(f"{value}: {why}" for value, why in self.refused.items()))
