"""The table of significance tests between evaluators."""

import math

import pytest

from metaeval.comparison.report import comparison_table
from metaeval.comparison.significance_table import significance_table
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.method import Method


def table_for(compared, **method):
    table = comparison_table(snapshot_of(compared), ComparisonChoices(), Method(**method))
    return significance_table(table, table.uncertainties(), "coherence")


def test_evaluators_are_sorted_from_best_to_worst_with_letters(compared):
    table = table_for(compared)
    assert table.names[-1] == "Noise"
    assert [letters for _, letters, _ in table.rows] == ["a", "a", "b"]
    assert table.dimension == "Coherence"


def test_mirrored_cells_have_opposite_differences_and_equal_p_values(compared):
    cells = [cells for _, _, cells in table_for(compared).rows]
    for row in range(3):
        assert cells[row][row] is None
        for other in range(row):
            here, there = cells[row][other], cells[other][row]
            assert here.difference == -there.difference
            assert (here.p_value, here.n) == (there.p_value, there.n)


def test_a_correction_never_lowers_a_p_value(compared):
    def p_values(correction):
        rows = table_for(compared, correction=correction).as_json()
        return {(row["evaluator"], row["other"]): row["p_value"] for row in rows}

    plain, holm = p_values("none"), p_values("holm")
    assert all(holm[pair] >= plain[pair] for pair in plain)


def test_an_undefined_test_has_a_reason(compared):
    table = table_for(compared, test="paired_t", level="pooled")
    row = table.as_json()[0]
    assert row["p_value"] is None
    assert row["reason"]
    assert not math.isnan(row["difference"])


def test_choosing_no_test_gives_no_table(compared):
    assert table_for(compared, test="none") is None


@pytest.mark.parametrize("column", ["difference", "p_value", "significant", "n", "definition"])
def test_every_ordered_pair_is_a_row_of_the_file(compared, column):
    rows = table_for(compared).as_json()
    assert len(rows) == 6
    assert all(column in row for row in rows)
