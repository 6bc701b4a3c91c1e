"""Fleiss' kappa."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.fleiss_kappa import FLEISS

tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12)


def fleiss_kappa(counts):
    return FLEISS.of_counts(counts, "nominal")


# Wikipedia's worked example of Fleiss 1971: 10 units, 14 raters, 5 answers; kappa .20993.
WORKED = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def naive_kappa(table):
    """Compute kappa by its definition."""
    units = [row for row in table if sum(row) > 1]
    agreeing = [sum(c * (c - 1) for c in row) / (sum(row) * (sum(row) - 1)) for row in units]
    shares = [sum(row[k] / sum(row) for row in units) / len(units) for k in range(len(table[0]))]
    chance = sum(share**2 for share in shares)
    return (sum(agreeing) / len(units) - chance) / (1 - chance)


def test_kappa_matches_the_published_worked_example():
    assert fleiss_kappa(WORKED).value == pytest.approx(0.20993, abs=5e-6)


# By hand, units (2, 0), (1, 2): P = (1 + 1/3) / 2; p = ((1 + 1/3) / 2, (0 + 2/3) / 2), P_e = 4/9 + 1/9.
def test_units_have_equal_weight_whatever_their_number_of_ratings():
    assert fleiss_kappa([[2, 0], [1, 2]]).value == pytest.approx((2 / 3 - 5 / 9) / (4 / 9), abs=1e-12)


@given(tables)
def test_kappa_equals_its_definition(table):
    answers = {k for row in table if sum(row) > 1 for k in range(3) if row[k]}
    kappa = fleiss_kappa(table)
    assert math.isnan(kappa.value) == (len(answers) < 2)
    if len(answers) > 1:
        assert kappa.value == pytest.approx(naive_kappa(table), abs=1e-9)


@given(tables, st.permutations(range(3)))
def test_answer_names_do_not_matter(table, order):
    renamed = [[row[k] for k in order] for row in table]
    assert fleiss_kappa(renamed).value == pytest.approx(fleiss_kappa(table).value, abs=1e-9, nan_ok=True)


def test_constant_answers_are_undefined_with_a_reason():
    kappa = fleiss_kappa([[3, 0], [2, 0], [0, 1]])
    assert math.isnan(kappa.value)
    assert "same answer" in kappa.reason


def test_kappa_reports_its_sample_size():
    kappa = fleiss_kappa([[2, 0], [1, 2], [1, 0]])
    assert (kappa.units, kappa.ratings) == (2, 5)
    assert kappa.left_out == {"summaries with fewer than two ratings": 1}


# irrCAC 0.4.4 on the same 8 units by two to four raters.
def test_unequal_numbers_of_ratings_match_irrcac():
    counts = [
        [2, 1, 0, 0, 0], [0, 3, 1, 0, 0], [0, 0, 2, 2, 0], [0, 0, 0, 1, 2],
        [0, 0, 0, 0, 4], [1, 1, 0, 0, 0], [0, 1, 3, 0, 0], [0, 0, 0, 2, 0],
    ]  # fmt: skip
    assert fleiss_kappa(counts).value == pytest.approx(0.371179039301, abs=1e-9)
