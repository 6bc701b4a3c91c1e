"""What running evaluators refuses, beyond what annotation refuses."""

from annotation.errors import DomainError


class InvalidRun(DomainError):
    """The evaluator, its parameters or the labelled pool do not make a run."""


class RunBusy(DomainError):
    """The run's state does not allow it: it is under way, or it is not."""

    status = 409
