"""Reading stops at too many invalid rows."""

from itertools import repeat

import pytest

from annotation.imports.reading.records import Problem, Rejected
from annotation.imports.reading.wrong_rows import MOST_SKIPPED, TooManyProblems, limited

VALID = "a valid row"
INVALID = Rejected("ratings.csv", 2, None, (Problem("ratings.csv", 2, "value", "'4'", "one of 1, 2, 3"),))


def test_at_most_100_000_invalid_rows_are_skipped_however_many_are_valid():
    rows = [VALID] * 2 * MOST_SKIPPED + [INVALID] * MOST_SKIPPED
    assert len(list(limited(rows, left_out=True))) == len(rows)
    with pytest.raises(TooManyProblems) as refusal:
        list(limited([*rows, INVALID], left_out=True))
    assert refusal.value.reason.startswith("More than 50,000 rows are invalid, so reading stopped.")


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [(False, "There are more than 1,000 problems"), (True, "More than 1,000 rows are invalid")],
)
def test_reading_stops_after_1_000_invalid_rows_at_the_top(left_out, reason):
    with pytest.raises(TooManyProblems) as refusal:
        list(limited(repeat(INVALID), left_out=left_out))
    assert refusal.value.reason.startswith(reason)
