"""Evaluators that are not computed from the same articles: no wrong best, no wrong letters."""

import gzip
import json
from math import nan

import numpy as np
import pytest

from annotation import protocol
from metaeval.comparison.comparison import compare, table_of
from metaeval.export.formats import FORMATS, written
from metaeval.snapshot.arrays import Labels, Scores, SetupScores, Summaries
from metaeval.stats.method import Method
from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator

ARTICLES, SYSTEMS = 40, 8
ORDERED = 10
"""Articles that the copier orders: the fewest that the default test takes."""


def make_table(labels, scores, method, seen=None):
    """Return the table of evaluators, by name, on (articles, systems) labels of one dimension."""
    articles, systems = (codes.ravel() for codes in np.indices(np.shape(labels)))
    unknown = np.full(articles.size, -1)
    names = tuple(f"s{number}" for number in range(np.shape(labels)[1]))
    summaries = Summaries(articles, systems, unknown, unknown, names, (), ())
    evaluators = [
        SetupScores(
            key=name,
            label=name,
            signature=name,
            fingerprint=None,
            higher_is_better=True,
            seen={"": frozenset(seen[name])} if seen and name in seen else {},
            scores={GENERAL: Scores(np.ravel(given).astype(float), (), np.full(articles.size, -1))},
        )
        for name, given in scores.items()
    ]
    on = Labels("q", "coherence", "Coherence", protocol.ONE_TO_FIVE, np.ravel(labels), "Human label.")
    return table_of(compare(summaries, evaluators), [on], method)


def rows_of(table):
    return {row["evaluator"]: row for row in table.rows()}


@pytest.fixture(scope="module")
def copier():
    """Return labels, and scores of a good evaluator and of one that orders only the easiest articles."""
    rng = np.random.default_rng(8)
    labels = rng.normal(size=(ARTICLES, SYSTEMS))
    noise = 2 * rng.normal(size=labels.shape)
    noise[:ORDERED] *= 0.1
    few = np.ones_like(labels)
    few[:ORDERED] = labels[:ORDERED] + 0.5 * rng.normal(size=(ORDERED, SYSTEMS))
    return labels, {"Good": labels + noise, "Copier": few}


def test_left_out_articles_make_no_best_and_the_difference_is_on_common_ones(copier):
    rows = rows_of(make_table(*copier, Method(level="article", constant="left_out", resamples=200)))
    good, few = rows["Good"], rows["Copier"]
    assert few["value"] > good["value"] + 0.2
    assert (few["units"], good["units"], few["unit"]) == (ORDERED, ARTICLES, "articles")
    assert (
        few["few_units"]
        == f"{ORDERED} of {ARTICLES} articles (articles with all scores equal: {ARTICLES - ORDERED})"
    )
    assert "few_units" not in good
    (pair,) = good["differences"]
    assert (pair["other"], pair["units"], pair["n"]) == ("Copier", ORDERED, ORDERED * SYSTEMS)
    assert pair["difference"] == -few["differences"][0]["difference"] > 0
    assert good["is_best"]
    assert "is_best" not in few
    assert good["cluster"][0] == "a"


def test_counted_as_zero_the_copier_earns_nothing_for_articles_that_it_does_not_order(copier):
    rows = rows_of(make_table(*copier, Method(level="article", resamples=200)))
    few = rows["Copier"]
    assert few["value"] < 0.25 < rows["Good"]["value"]
    assert few["counted_as_zero"] == {"articles with all scores equal": ARTICLES - ORDERED}
    assert few["units"] == rows["Good"]["units"] == ARTICLES
    assert rows["Good"]["is_best"]
    assert (rows["Good"]["cluster"], few["cluster"]) == ("a", "b")


@pytest.mark.parametrize("test", ["none", "bootstrap_articles"])
def test_values_on_unequal_units_have_no_best_until_the_differences_are_known(copier, test):
    method = Method(level="article", constant="left_out", interval="none", test=test, resamples=50)
    table = make_table(*copier, method)
    assert not any(figure.is_best for figure in table.figures())
    assert [column.labels.title for column in table.columns_of_unequal_units] == ["Coherence"]
    assert [figure.is_best for figure in table.figures(table.uncertainties())] == [True, False]


def test_where_each_wins_on_other_articles_a_third_settles_nothing():
    """Two evaluators without a common article are not compared; neither is best."""
    rng = np.random.default_rng(1)
    labels = rng.normal(size=(ARTICLES, SYSTEMS))
    first, second = labels.copy(), labels + rng.normal(size=labels.shape)
    first[20:], second[:20] = nan, nan
    rows = rows_of(make_table(labels, {"First": first, "Second": second}, Method(resamples=50)))
    assert not any("is_best" in row or "cluster" in row for row in rows.values())
    assert rows["First"]["why_no_letters"] == "the two have no summaries in common"
    assert rows["First"]["differences"][0]["difference"] is None


def test_evaluators_that_cannot_be_compared_take_no_letters_from_the_others():
    rng = np.random.default_rng(2)
    labels = rng.normal(size=(ARTICLES, SYSTEMS))
    scores = {
        "Good": labels + 0.1 * rng.normal(size=labels.shape),
        "Fair": labels + rng.normal(size=labels.shape),
        "Noise": rng.normal(size=labels.shape),
        "Early": labels + rng.normal(size=labels.shape),
        "Late": labels + rng.normal(size=labels.shape),
    }
    scores["Early"][20:], scores["Late"][:20] = nan, nan
    rows = rows_of(make_table(labels, scores, Method(resamples=200)))
    assert [rows[name].get("cluster") for name in scores] == ["a", "b", "c", None, None]
    reason = "the two have no summaries in common (Early and Late)"
    assert [rows[name].get("why_no_letters") for name in scores] == [None, None, None, reason, reason]
    assert rows["Early"]["differences"][0]["p_value"] is not None
    # One that shares nothing with two others stands alone, and these have their letters.
    scores["Later"] = scores["Late"] + rng.normal(size=labels.shape)
    rows = rows_of(make_table(labels, scores, Method(resamples=200)))
    assert [name for name in scores if "cluster" not in rows[name]] == ["Early"]


def test_an_undefined_figure_is_no_win_for_the_others():
    rng = np.random.default_rng(1)
    labels = rng.normal(size=(ARTICLES, SYSTEMS))
    rows = rows_of(make_table(labels, {"Good": labels, "Constant": labels * 0}, Method(resamples=50)))
    assert rows["Constant"]["value"] is None
    assert "is_best" not in rows["Good"]


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_says_on_how_many_articles_two_were_compared(copier, format_name):
    table = make_table(*copier, Method(level="article", constant="left_out", resamples=50))
    text = written(table.rows(), format_name, down="evaluator", across=("dimension",), n="n")
    if format_name == "json":
        assert json.loads(text)[0]["differences"][0]["units"] == ORDERED
        return
    assert f"on {ORDERED}" in text
    assert f"{ORDERED} of {ARTICLES} articles" in text
    if format_name == "latex":
        assert r"\textbf" in text.splitlines()[4]
        assert r"\dagger" in text.splitlines()[5]


def test_a_test_that_does_not_apply_says_so_in_every_row(copier):
    rows = rows_of(make_table(*copier, Method(test="paired_t", interval="none")))
    assert "mean over articles" in rows["Good"]["why_no_letters"]
    assert rows["Good"]["differences"][0]["p_value"] is None
    assert rows["Good"]["differences"][0]["difference"] is not None


def test_a_value_on_much_fewer_articles_is_not_best_though_it_wins_on_them(copier):
    labels, scores = copier
    scores = scores | {"Copier": np.where(scores["Copier"] == 1, 1, labels)}
    rows = rows_of(make_table(labels, scores, Method(level="article", constant="left_out", resamples=50)))
    assert rows["Copier"]["differences"][0]["difference"] > 0
    assert not any("is_best" in row for row in rows.values())


@pytest.fixture(scope="module")
def summeval(shared):
    """Return experts' mean coherence, and the scores of copy rate and ROUGE-L, (100 articles, 12 systems)."""
    path = shared / "data/summeval/model_annotations.aligned.paired.12systems.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = sorted(map(json.loads, file), key=lambda row: (row["id"], row["model_id"]))
    items = [
        Item(str(place), row["decoded"], article=row["text"], references=tuple(row["references"]))
        for place, row in enumerate(rows)
    ]
    labels = [np.mean([each["coherence"] for each in row["expert_annotations"]]) for row in rows]

    def scored(name, **settings):
        evaluator = load_evaluator(name)
        found = evaluator(read_params(evaluator, settings)).score(items)
        return np.array([each.values[GENERAL] for each in found]).reshape(100, 12)

    scores = {"Copy rate": scored("copy_rate"), "ROUGE-L": scored("rouge", variant="L")}
    return np.array(labels).reshape(100, 12), scores


def test_summevals_copy_rate_is_not_best_on_the_few_articles_that_it_orders(summeval):
    method = Method(level="article", constant="left_out", test="paired_t", interval="none")
    rows = rows_of(make_table(*summeval, method))
    copy_rate, rouge = rows["Copy rate"], rows["ROUGE-L"]
    assert (copy_rate["value"], copy_rate["articles"]) == (pytest.approx(0.395, abs=5e-4), 10)
    assert (rouge["value"], rouge["articles"]) == (pytest.approx(0.265, abs=5e-4), 100)
    (pair,) = copy_rate["differences"]
    assert (pair["units"], pair["n"]) == (10, 120)
    assert pair["difference"] == pytest.approx(0.395 - 0.379, abs=1e-3)
    assert pair["p_value"] == pytest.approx(0.837, abs=1e-3)
    assert copy_rate["few_units"] == "10 of 100 articles (articles with all scores equal: 90)"
    assert not any("is_best" in row for row in rows.values())
    assert copy_rate["cluster"] == rouge["cluster"]


def test_summevals_copy_rate_is_behind_rouge_by_default(summeval):
    rows = rows_of(make_table(*summeval, Method(level="article", interval="none", resamples=200)))
    assert rows["Copy rate"]["value"] == pytest.approx(0.0395, abs=5e-4)
    assert rows["Copy rate"]["counted_as_zero"] == {"articles with all scores equal": 90}
    assert (rows["ROUGE-L"].get("is_best"), rows["Copy rate"].get("is_best")) == (True, None)
    assert (rows["ROUGE-L"]["cluster"], rows["Copy rate"]["cluster"]) == ("a", "b")


def test_what_one_evaluator_has_seen_changes_nothing_between_two_others():
    rng = np.random.default_rng(4)
    labels = rng.normal(size=(ARTICLES, SYSTEMS))
    scores = {name: labels + rng.normal(size=labels.shape) for name in ("First", "Second", "Learnt")}
    method = Method(resamples=100, correction="none")
    three = rows_of(make_table(labels, scores, method, seen={"Learnt": range(10)}))
    two = rows_of(make_table(labels, {name: scores[name] for name in ("First", "Second")}, method))
    assert three["First"]["differences"][0] == two["First"]["differences"][0]
    assert (three["First"]["low"], three["First"]["high"]) == (two["First"]["low"], two["First"]["high"])
    unseen = {name: each[10:] for name, each in scores.items()}
    without = rows_of(make_table(labels[10:], unseen, method))
    learnt, alone = three["Learnt"], without["Learnt"]
    assert (learnt["value"], learnt["low"], learnt["high"]) == (alone["value"], alone["low"], alone["high"])
    assert learnt["differences"] == alone["differences"]
    assert learnt["left_out"] == {"articles seen by Learnt": 10}
    shared = rows_of(make_table(labels, scores, Method(resamples=100, items="common"), {"Learnt": range(10)}))
    assert all(shared[name]["value"] == without[name]["value"] for name in shared)
    assert all(shared[name]["low"] == without[name]["low"] for name in shared)
