"""Units with the same answers, grouped into patterns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.fleiss_kappa import FLEISS
from metaeval.stats.agreement.gwet import GWET
from metaeval.stats.agreement.krippendorff import ALPHA, SCALES
from metaeval.stats.agreement.pairwise_agreement import ALL_AGREE, PAIRWISE
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.agreement.unit_patterns import unit_patterns
from tests.metaeval.stats.rating_lists import counts_of

STATISTICS = [ALPHA, PAIRWISE, ALL_AGREE, FLEISS, GWET]
NUMBERS = np.array([1.0, 2.0, 4.0])
units_of_answers = st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=4), min_size=1, max_size=12)


def patterns_of(units, n_answers=3):
    codes = np.array([unit for unit, answers in enumerate(units) for _ in answers], dtype=np.int64)
    given_answers = np.array([answer for answers in units for answer in answers], dtype=np.int64)
    return unit_patterns(codes, given_answers, n_units=len(units), n_answers=n_answers)


def table_of(units):
    return np.array([[answers.count(answer) for answer in range(3)] for answers in units])


def table(patterns):
    counts = np.zeros((len(patterns.units), 3), dtype=int)
    counts[patterns.units.cells.units, patterns.units.cells.answers] = patterns.units.counts[:, 0]
    return counts


@given(units_of_answers)
def test_units_have_the_answers_of_their_pattern(units):
    patterns = patterns_of(units)
    assert table(patterns)[patterns.of_unit].tolist() == table_of(units).tolist()
    assert len({tuple(row) for row in table(patterns).tolist()}) == len(patterns.units)
    assert patterns.units.times[:, 0].tolist() == np.bincount(patterns.of_unit).tolist()


@given(units_of_answers)
@pytest.mark.parametrize("scale", SCALES)
def test_statistics_of_patterns_equal_those_of_the_repeated_rows(scale, units):
    patterns, rows = patterns_of(units).units, RatedUnits.of_counts(table_of(units))
    for statistic in STATISTICS:
        of_patterns = statistic.values(patterns, scale, NUMBERS)
        of_rows = statistic.values(rows, scale, NUMBERS)
        assert of_patterns == pytest.approx(of_rows, abs=1e-9, nan_ok=True)


def test_times_can_be_counted_over_chosen_units():
    patterns = patterns_of([[0, 0], [0, 1], [1, 0], [0, 0, 1]])
    times = patterns.times(np.array([1, 2, 3]))[:, 0]
    assert sorted(times.tolist()) == [0, 1, 2]


def test_units_with_many_ratings_and_values_stay_separate_patterns():
    rng = np.random.default_rng(0)
    units = [rng.integers(0, 100_000, 40).tolist() for _ in range(20)]
    units += [list(reversed(answers)) for answers in units]
    patterns = patterns_of(units, n_answers=100_000)
    assert len(patterns.units) == 20
    assert patterns.of_unit[:20].tolist() == patterns.of_unit[20:].tolist()


def test_no_units_have_no_patterns():
    nothing = np.zeros(0, dtype=np.int64)
    assert len(unit_patterns(nothing, nothing, n_units=0, n_answers=3).units) == 0


def test_counts_equal_those_of_the_count_table():
    counts = counts_of([0, 0, 1, 1, 1], [0, 2, 1, 1, 2], n_units=2, n_answers=3)
    assert table(patterns_of([[0, 2], [1, 1, 2]])).tolist() == counts.tolist()
