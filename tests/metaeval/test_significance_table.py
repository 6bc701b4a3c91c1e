"""Every two evaluators beside each other."""

import math

import pytest

from metaeval.choices import MetaevalChoices
from metaeval.metaeval_report import metaeval_table
from metaeval.method import Method
from metaeval.significance_table import significance_table
from metaeval.snapshot import snapshot_of


def table_for(compared, **method):
    table = metaeval_table(snapshot_of(compared), MetaevalChoices(), Method(**method))
    return significance_table(table, table.uncertainties(), "coherence")


def test_evaluators_stand_from_best_to_worst_with_their_letters(compared):
    table = table_for(compared)
    assert table.names[-1] == "Noise"
    assert [letters for _, letters, _ in table.rows] == ["a", "a", "b"]
    assert table.dimension == "Coherence"


def test_a_pair_seen_from_the_other_side_has_the_opposite_difference_and_the_same_p(compared):
    cells = [cells for _, _, cells in table_for(compared).rows]
    for row in range(3):
        assert cells[row][row] is None
        for other in range(row):
            here, there = cells[row][other], cells[other][row]
            assert here.difference == -there.difference
            assert (here.p_value, here.n) == (there.p_value, there.n)


def test_a_correction_makes_no_p_value_smaller(compared):
    def p_values(correction):
        rows = table_for(compared, correction=correction).as_json()
        return {(row["evaluator"], row["other"]): row["p_value"] for row in rows}

    plain, holm = p_values("none"), p_values("holm")
    assert all(holm[pair] >= plain[pair] for pair in plain)


def test_where_a_test_is_undefined_the_reason_stands_beside(compared):
    table = table_for(compared, test="paired_t", level="pooled")
    row = table.as_json()[0]
    assert row["p_value"] is None
    assert row["reason"]
    assert not math.isnan(row["difference"])


def test_without_a_test_there_is_no_table(compared):
    assert table_for(compared, test="none") is None


@pytest.mark.parametrize("column", ["difference", "p_value", "told_apart", "n", "definition"])
def test_every_pair_is_a_row_of_a_file(compared, column):
    rows = table_for(compared).as_json()
    assert len(rows) == 6
    assert all(column in row for row in rows)
