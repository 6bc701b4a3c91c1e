import pytest

from scoring.trainers import training_clock
from scoring.trainers.training_clock import TrainingClock


@pytest.fixture
def clock(monkeypatch):
    """Return a list whose only entry is the time in seconds."""
    now = [100.0]
    monkeypatch.setattr(training_clock.time, "monotonic", lambda: now[0])
    return now


def test_time_left_counts_steps_and_validations(clock):
    ours = TrainingClock(first_step=10)
    clock[0] += 20
    ours.validation_took(10)
    assert ours.steps_per_s(15) == pytest.approx(0.5)
    assert ours.seconds_left(15, last=35, between_validations=10) == pytest.approx(20 / 0.5 + 2 * 10)
    assert ours.seconds_left(35, last=35, between_validations=10) == 0


def test_nothing_is_estimated_before_the_first_step(clock):
    assert TrainingClock(first_step=10).seconds_left(10, last=20, between_validations=5) is None


def test_the_time_of_earlier_processes_counts(clock):
    ours = TrainingClock(earlier=3600)
    clock[0] += 60
    assert ours.seconds() == 3660
