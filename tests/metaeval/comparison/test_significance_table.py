"""The table of significance tests between evaluators."""

import math

import pytest
from django.urls import reverse

from annotation.errors import DomainError
from metaeval.comparison.report import comparison_table
from metaeval.comparison.significance_table import significance_table
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.method import Method
from tests.factories import make_member


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


class TestWithAMargin:
    def test_good_evaluators_are_equivalent_within_it_and_noise_is_not_as_good(self, compared_at_length):
        table = table_for(compared_at_length, test="bootstrap_articles", margin=0.1)
        assert table.margin == 0.1
        cells = {
            (row["evaluator"], row["other"]): (row["as_good"], row["equivalent"]) for row in table.as_json()
        }
        assert cells["Good", "Also good"] == cells["Also good", "Good"] == (True, True)
        assert cells["Noise", "Good"] == (False, False)
        assert cells["Good", "Noise"] == (True, False)
        assert "Schuirmann 1987" in table.definition
        assert "each pair counting in both orders" in table.definition

    def test_holm_counts_both_orders_and_equivalence_is_the_weaker_of_them(self, compared_at_length):
        def p_values(name, correction):
            asked = {"test": "bootstrap_articles", "margin": 0.01, "correction": correction}
            rows = table_for(compared_at_length, **asked).as_json()
            return {(row["evaluator"], row["other"]): row[name] for row in rows}

        plain, holm = p_values("not_worse_p", "none"), p_values("not_worse_p", "holm")
        least = min(plain, key=plain.get)
        assert holm[least] == pytest.approx(min(1, 6 * plain[least]))
        equivalent = p_values("equivalent_p", "holm")
        assert equivalent == {(one, other): max(holm[one, other], holm[other, one]) for one, other in holm}

    def test_over_systems_means_the_bootstrap_over_articles_is_named(self, compared):
        table = table_for(compared, level="system", margin=0.05)
        assert "PERM-INPUTS with Student's t" in table.definition
        assert "by the paired bootstrap over articles' standard error" in table.definition

    def test_without_one_there_are_no_such_columns(self, compared):
        assert "margin" not in table_for(compared).as_json()[0]

    @pytest.mark.parametrize("margin", [-0.01, 1, math.nan])
    def test_one_out_of_range_is_refused(self, margin):
        with pytest.raises(DomainError, match="margin: found"):
            Method(margin=margin)


def test_the_page_says_which_evaluators_are_as_good_as_others(client, compared_at_length):
    client.force_login(make_member(compared_at_length, "researcher"))
    page = reverse("comparison", args=[compared_at_length.slug])

    def shown(**query):
        answer = client.get(page, {"interval": "one_look", "test": "one_look", **query})
        return " ".join(answer.content.decode().split())

    assert "not worse by .100 or more" in shown(margin="0.1")
    assert "≈ p &lt; .001" in shown(margin="0.1")
    assert "≥ p &lt; .001" in shown(margin="0.1")
    assert '<option value="0.03" selected>.03</option>' in shown(margin="0.03")
    assert "as good as the column" not in shown()
    answer = client.get(page, {"margin": "a lot"})
    assert answer.status_code == 400
    assert "margin: found &#x27;a lot&#x27;, expected a number such as 0.02" in answer.content.decode()
