"""Intervals, significance tests and letters of the comparison."""

import pytest
from django.urls import reverse

from annotation import protocol
from annotation.projects.closing import close_campaign
from scoring.models import Setup
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.comparison_rows import rows_of, values_of
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

ARTICLES, SYSTEMS = 30, 4


def by_evaluator(rows):
    return {row["evaluator"]: row for row in rows}


def close(project):
    close_campaign(project, make_member(project, "manager"))


def test_values_lie_within_their_interval_and_its_definition_is_given(compared):
    for row in rows_of(compared, interval="one_look"):
        assert row["low"] < row["value"] < row["high"]
        assert "1,000 resamples" in row["definition"]
        assert "seed 0" in row["definition"]


def test_intervals_depend_on_the_seed(compared):
    first, again, other = (rows_of(compared, interval="one_look", seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert [row["value"] for row in first] == [row["value"] for row in other]
    assert [row["low"] for row in first] != [row["low"] for row in other]


def test_rows_without_intervals_do_not_mention_them(compared):
    for row in rows_of(compared, interval="none", test="none"):
        assert (row["low"], row["high"]) == (None, None)
        assert "resamples" not in row["definition"]


@pytest.mark.parametrize("test", ["bootstrap_articles", "perm_both", "williams"])
def test_good_evaluators_share_a_letter_that_noise_lacks(compared, test):
    rows = by_evaluator(rows_of(compared, test=test, resamples=200))
    assert rows["Good"]["cluster"] == rows["Also good"]["cluster"] == "a"
    assert rows["Noise"]["cluster"] == "b"


def test_the_best_of_several_evaluators_is_marked(compared):
    marked = {row["evaluator"] for row in values_of(compared) if row.get("is_best")}
    assert len(marked) == 1
    assert marked < {"Good", "Also good"}
    only = str(Setup.objects.get(label="Good").pk)
    assert not any(row.get("is_best") for row in values_of(compared, only=(only,)))


def test_the_definition_of_letters_names_test_and_correction(compared):
    for row in rows_of(compared, test="perm_inputs", interval="none", resamples=100):
        assert "PERM-INPUTS" in row["definition"]
        assert "corrected for the pairs of a dimension by Holm" in row["definition"]


def test_over_systems_means_the_interval_and_the_test_are_those_that_hold_there(compared):
    close(compared)
    for row in rows_of(compared, level="system", resamples=200):
        assert "symmetric bootstrap" in row["definition"]
        assert "PERM-INPUTS with Student's t" in row["definition"]
        assert row["low"] < row["value"] <= row["high"]
    for row in rows_of(compared, level="article", resamples=200):
        assert "percentile bootstrap" in row["definition"]
        assert "Paired bootstrap over articles" in row["definition"]


def test_intervals_and_letters_hold_at_every_look_until_the_campaign_is_closed(compared_at_length):
    live, chosen = (
        rows_of(compared_at_length),
        rows_of(compared_at_length, interval="one_look", test="one_look"),
    )
    for row, one_look in zip(live, chosen, strict=True):
        assert "holds however often one looks" in row["definition"]
        assert "Always-valid t-test over articles" in row["definition"]
        assert "by Benjamini and Hochberg" in row["definition"]
        assert row["low"] < one_look["low"] < row["value"] < one_look["high"] < row["high"]
    rows = by_evaluator(live)
    assert rows["Good"]["cluster"] == rows["Also good"]["cluster"] == "a"
    assert rows["Noise"]["cluster"] == "b"
    close(compared_at_length)
    assert rows_of(compared_at_length) == chosen


def test_the_page_says_whether_its_intervals_hold_at_every_look(client, compared):
    client.force_login(make_member(compared, "researcher"))
    page = reverse("comparison", args=[compared.slug])

    def shown(query=""):
        return " ".join(client.get(f"{page}{query}").content.decode().split())

    one_look = "?interval=one_look&amp;test=one_look"
    assert "Intervals and letters hold however often you look while ratings come in." in shown()
    assert f'<a href="{one_look}">Show those for a single look</a>' in shown()
    assert "<b>For a single look:</b> while ratings come in" in shown(one_look.replace("&amp;", "&"))
    simulated = "wrong at some of 72 looks (at most 5% is right):</b> jackknife over articles 32% to 62%"
    assert simulated in shown()
    assert "some of 72 looks" not in shown("?level=system")
    assert "a single look" not in shown("?interval=none&test=none").partition("How this was computed")[0]
    close(compared)
    assert "Its ratings are final, so intervals and letters are for a single look." in shown()
    assert f"final since {compared.closed_at:%Y-%m-%d}" in shown()


def test_the_page_gives_the_reasons_for_missing_intervals(client, compared):
    client.force_login(make_member(compared, "researcher"))
    answer = client.get(reverse("comparison", args=[compared.slug]), {"level": "system"})
    text = " ".join(answer.content.decode().split())
    assert "<b>no interval</b>: over systems&#x27; means nothing holds at every look" in text


def test_over_systems_means_nothing_holds_at_every_look(compared):
    for row in rows_of(compared, level="system"):
        assert (row["low"], row["high"]) == (None, None)
        assert row["interval_reason"].startswith("over systems' means nothing holds at every look")
        assert row["why_no_letters"] == row["interval_reason"]
        assert "cluster" not in row


def test_a_test_that_finds_too_much_says_so_in_the_definition_of_its_letters(compared):
    chosen = {"level": "article", "test": "perm_both", "interval": "none", "resamples": 50}
    for row in rows_of(compared, **chosen):
        assert "'PERM-BOTH' does not hold its level of 5% here" in row["definition"]


def test_evaluators_that_cannot_be_tested_have_no_letters(compared):
    assert all("cluster" not in row for row in rows_of(compared, test="paired_t", interval="none"))


def test_choosing_no_test_gives_no_letters(compared):
    assert all("cluster" not in row for row in rows_of(compared, test="none", interval="none"))


def test_a_single_evaluator_has_no_letter(compared):
    only = str(Setup.objects.get(label="Good").pk)
    (row,) = rows_of(compared, only=(only,), interval="none")
    assert "cluster" not in row


def test_a_missing_interval_has_a_reason(db):
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, ["only"], ["a", "b", "c"])
    rater = make_rater(project)
    for summary, answer in zip(summaries, "123", strict=True):
        rate(summary, rater, coherence=answer)
    score(make_setup(project, "Metric"), dict(zip(summaries, [1.0, 2.0, 3.0], strict=True)), "coherence")
    (row,) = rows_of(project)
    assert row["value"] == 1.0
    assert (row["low"], row["high"]) == (None, None)
    assert row["interval_reason"]


def test_common_items_compare_evaluators_on_the_same_summaries(compared):
    setup = make_setup(compared, "Half")
    scored = Setup.objects.get(label="Good").scores.order_by("summary_id")
    half = {each.summary: each.value for each in scored.select_related("summary")[: ARTICLES * 2]}
    score(setup, half, "coherence")
    own = by_evaluator(rows_of(compared, interval="none", test="none"))
    common = by_evaluator(rows_of(compared, interval="none", test="none", items="common"))
    assert (own["Good"]["n"], own["Half"]["n"]) == (ARTICLES * SYSTEMS, ARTICLES * 2)
    assert {row["n"] for row in common.values()} == {ARTICLES * 2}
    assert common["Good"]["value"] == common["Half"]["value"] == own["Half"]["value"]
    assert common["Good"]["left_out"] == {
        "summaries without a score: not scored by every compared evaluator": ARTICLES * 2
    }


def test_the_lowest_lower_is_better_evaluator_is_best(compared, monkeypatch):
    from scoring.evaluators.length import Length

    monkeypatch.setattr(Length, "higher_is_better", False)
    rows = by_evaluator(rows_of(compared, test="one_look", resamples=200))
    assert rows["Noise"]["cluster"] == "a"
