"""Gwet's AC1 and AC2."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.gwet import GWET, WEIGHTS

NUMBERS = [1.0, 2.0, 4.0]
tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12)


def weight(scale, k, l, q=3):  # noqa: E741
    if scale == "nominal":
        return float(k == l)
    if scale == "ordinal":
        return 1 - math.comb(abs(k - l) + 1, 2) / math.comb(q, 2)
    return 1 - (NUMBERS[k] - NUMBERS[l]) ** 2 / (NUMBERS[-1] - NUMBERS[0]) ** 2


def naive_ac(table, scale):
    """Compute AC by its definition."""
    units = [row for row in table if sum(row) > 1]
    q = len(table[0])
    of_unit = []
    for row in units:
        given_answers = [k for k in range(q) for _ in range(row[k])]
        pairs = [(a, b) for i, a in enumerate(given_answers) for j, b in enumerate(given_answers) if i != j]
        of_unit.append(sum(weight(scale, a, b) for a, b in pairs) / len(pairs))
    agreement = sum(of_unit) / len(units)
    shares = [sum(row[k] / sum(row) for row in units) / len(units) for k in range(q)]
    weights = sum(weight(scale, k, other) for k in range(q) for other in range(q))
    chance = weights / (q * (q - 1)) * sum(share * (1 - share) for share in shares)
    return (agreement - chance) / (1 - chance)


# Gwet 2008's case of high agreement: of 125 units, 118 + 2 agree and 5 differ. P = .96,
# P_e = 2 * .964 * .036 (241 and 9 of 250 ratings): AC1 = (.96 - .069408) / (1 - .069408) = .9570...,
# while Cohen's kappa is .4.
def test_ac1_stays_high_for_skewed_answers():
    counts = [[2, 0]] * 118 + [[0, 2]] * 2 + [[1, 1]] * 5
    assert GWET.of_counts(counts, "nominal").value == pytest.approx(
        (0.96 - 0.069408) / (1 - 0.069408), abs=1e-12
    )


@given(tables)
@pytest.mark.parametrize("scale", WEIGHTS)
def test_ac_equals_its_definition(scale, table):
    found = GWET.of_counts(table, scale, NUMBERS)
    if all(sum(row) < 2 for row in table):
        assert math.isnan(found.value)
    else:
        assert found.value == pytest.approx(naive_ac(table, scale), abs=1e-9)


def test_constant_answers_are_full_agreement(subtests):
    for scale in WEIGHTS:
        with subtests.test(scale=scale):
            assert GWET.of_counts([[3, 0, 0], [2, 0, 0]], scale, NUMBERS).value == 1


def test_answers_nobody_gave_count_as_possible_answers():
    assert (
        GWET.of_counts([[2, 0], [1, 1]], "nominal").value
        != GWET.of_counts([[2, 0, 0], [1, 1, 0]], "nominal").value
    )


def test_a_single_possible_answer_is_undefined_with_a_reason():
    found = GWET.of_counts([[2], [3]], "nominal")
    assert math.isnan(found.value)
    assert found.reason == "there is only one answer to give"


@pytest.mark.parametrize(("scale", "name"), [("nominal", "AC1"), ("ordinal", "AC2"), ("interval", "AC2")])
def test_the_definition_names_ac1_or_ac2(scale, name):
    assert f"Gwet's {name}" in GWET.of_counts([[1, 1]], scale, [0, 1]).definition


def test_the_interval_scale_needs_numbers():
    with pytest.raises(ValueError, match="needs the number"):
        GWET.of_counts([[1, 1]], "interval")


# irrCAC 0.4.4 on the same 8 units by up to 4 raters, answers 1 to 5 (categories=[1, 2, 3, 4, 5]).
TABLE = [
    [2, 1, 0, 0, 0], [0, 3, 1, 0, 0], [0, 0, 2, 2, 0], [0, 0, 0, 1, 2],
    [0, 0, 0, 0, 4], [1, 1, 0, 0, 0], [0, 1, 3, 0, 0], [0, 0, 0, 2, 0],
]  # fmt: skip
BY_IRRCAC = {"nominal": 0.375947995666, "ordinal": 0.824175824176, "interval": 0.877237851662}


def test_ac_matches_irrcac(subtests):
    for scale in WEIGHTS:
        with subtests.test(scale=scale):
            assert GWET.of_counts(TABLE, scale, [1, 2, 3, 4, 5]).value == pytest.approx(
                BY_IRRCAC[scale], abs=1e-9
            )
