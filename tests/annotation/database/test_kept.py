"""What a process keeps of the database."""

import pytest
from django.db import transaction

from annotation.database.kept import kept
from annotation.errors import NotFound


@pytest.fixture
def counted():
    """Return a kept function that fails for 0, and the arguments with which it was really called."""
    calls = []

    @kept
    def double(number: int) -> int:
        calls.append(number)
        if number == 0:
            raise NotFound("There is none.")
        return 2 * number

    return double, calls


@pytest.mark.django_db(transaction=True)
def test_results_are_kept_by_arguments(counted):
    double, calls = counted
    assert [double(1), double(2), double(1)] == [2, 4, 2]
    assert calls == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_errors_are_not_kept(counted):
    double, calls = counted
    for _ in range(2):
        with pytest.raises(NotFound):
            double(0)
    assert calls == [0, 0]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_kept_from_inside_a_transaction(counted):
    double, calls = counted
    with transaction.atomic():
        double(1)
        double(1)
    double(1)
    double(1)
    assert calls == [1, 1, 1]
