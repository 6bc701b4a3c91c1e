"""The speed of a training, and the time it will take."""

import time


class TrainingClock:
    """Clock of a training since this process took it up; `earlier` are the seconds before that."""

    def __init__(self, earlier: float = 0.0, first_step: int = 0) -> None:
        self._started = time.monotonic()
        self._earlier = earlier
        self._first_step = first_step
        self._validating = 0.0
        self._validations = 0

    def validation_took(self, seconds: float) -> None:
        self._validating += seconds
        self._validations += 1

    def seconds(self) -> float:
        """Return the seconds of the training in all processes, validations included."""
        return self._earlier + time.monotonic() - self._started

    def steps_per_s(self, step: int) -> float:
        """Return the rate of this process's steps, validations excluded."""
        return (step - self._first_step) / max(1e-9, time.monotonic() - self._started - self._validating)

    def seconds_left(self, step: int, last: int, between_validations: float) -> float | None:
        """Return the seconds to the last step; validations count once one was made."""
        rate = self.steps_per_s(step)
        if not rate:
            return None
        left = last - step
        validation = self._validating / self._validations if self._validations else 0.0
        return left / rate + left / between_validations * validation
