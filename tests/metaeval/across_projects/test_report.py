"""Evaluators by data set, their means and their letters."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from annotation import protocol
from metaeval.across_projects.data_set_figures import measured
from metaeval.across_projects.report import FEWER_THAN_TWO, MEAN, DataSet, across_table
from metaeval.snapshot.arrays import ALL, Labels, Scores, SetupScores, Summaries
from metaeval.stats.method import Method
from metaeval.stats.uncertainty.random_effects import random_effects
from scoring.contract.evaluator import GENERAL
from scoring.contract.seen import EVERY_DIMENSION

PEARSON = Method(coefficient="pearson")
SCALE = protocol.Scale(protocol.ScaleKind.INTERVAL, low=1, high=5)


def setup(label, values, *, fingerprint=None, higher_is_better=True, seen=()):
    scores = Scores(values, (), np.full(len(values), -1))
    return SetupScores(
        key=f"key of {label}",
        label=label,
        signature=f"{label}|v:1",
        fingerprint=fingerprint or label,
        higher_is_better=higher_is_better,
        seen={EVERY_DIMENSION: frozenset(seen)} if seen else {},
        scores={GENERAL: scores},
    )


class World:
    """A data set of articles by four systems, with a good evaluator and a noisy one."""

    def __init__(self, name, seed, n_articles=20):
        rng = np.random.default_rng(seed)
        n = 4 * n_articles
        self.name = name
        self.articles = np.repeat(np.arange(n_articles), 4)
        self.summaries = Summaries(
            articles=self.articles,
            systems=np.tile(np.arange(4), n_articles),
            languages=np.zeros(n, dtype=np.int64),
            datasets=np.full(n, -1),
            system_names=("a", "b", "c", "d"),
            language_names=("en",),
            dataset_names=(),
        )
        quality = rng.integers(1, 6, n).astype(float)
        self.labels = Labels("coherence", "coherence", "Coherence", SCALE, quality, "Labels are means.")
        self.good = quality + rng.normal(size=n)
        self.evaluators = [setup("Good", self.good), setup("Noise", quality + 50 * rng.normal(size=n))]

    def figures(self, method=PEARSON):
        return measured(self.summaries, self.evaluators, self.labels, ALL, method)


@pytest.fixture
def worlds():
    return [World(name, seed) for seed, name in enumerate(("News", "Stories", "Mails"))]


def table_of(worlds, method=PEARSON, found=None):
    data_sets = [DataSet(each.name, each.name.lower(), "coherence", "Labels are means.") for each in worlds]
    return across_table("coherence", data_sets, found or [each.figures(method) for each in worlds], method)


def row_of(table, label):
    return next(row for row in table.rows if row.evaluator.label == label)


def test_each_value_has_the_jackknifes_error_and_the_mean_is_of_them(worlds):
    row = row_of(table_of(worlds), "Good")
    effects, errors = [], []
    for world in worlds:
        labels, scores = world.labels.values, world.good
        without = np.array(
            [
                np.arctanh(scipy.stats.pearsonr(labels[kept], scores[kept])[0])
                for kept in (world.articles != each for each in np.unique(world.articles))
            ]
        )
        effects.append(np.arctanh(scipy.stats.pearsonr(labels, scores)[0]))
        errors.append(math.sqrt(19 / 20 * ((without - without.mean()) ** 2).sum()))

    assert [figure.effect for figure in row.figures] == pytest.approx(effects)
    assert [figure.error for figure in row.figures] == pytest.approx(errors)
    expected = random_effects(effects, errors)
    assert row.mean.value == pytest.approx(math.tanh(expected.mean))
    assert row.mean.interval.low == pytest.approx(math.tanh(expected.low))
    assert row.mean.predicted.high == pytest.approx(math.tanh(expected.highest))
    assert row.mean.data_sets == 3


def test_good_evaluator_differs_from_noise_by_the_differences_within_data_sets(worlds):
    table = table_of(worlds)
    good, noise = row_of(table, "Good"), row_of(table, "Noise")

    assert (good.cluster, noise.cluster) == ("a", "b")
    [pair] = good.pairs
    assert (pair.other, pair.data_sets) == ("Noise", 3)
    assert pair.difference > 0.3
    assert pair.p_value < 0.05
    assert noise.pairs[0].difference == -pair.difference


def test_evaluators_alike_share_a_letter(worlds):
    for seed, world in enumerate(worlds):
        noise = np.random.default_rng(10 + seed).normal(size=len(world.good))
        world.evaluators = [setup("Good", world.good), setup("As good", world.labels.values + noise)]

    rows = table_of(worlds).rows

    assert [row.cluster for row in rows] == ["a", "a"]


def test_shares_are_combined_on_the_scale_of_log_odds(worlds):
    row = row_of(table_of(worlds, Method(coefficient="acc_eq")), "Good")
    values = [figure.estimate.value for figure in row.figures]

    assert [figure.effect for figure in row.figures] == pytest.approx(
        [math.log(value / (1 - value)) / 2 for value in values]
    )
    assert min(values) < row.mean.value < max(values)


def test_evaluator_whose_scores_fall_is_better_the_more_they_do(worlds):
    for world in worlds:
        world.evaluators.append(setup("Perplexity", -world.good, higher_is_better=False))

    table = table_of(worlds)
    good, perplexity = row_of(table, "Good"), row_of(table, "Perplexity")

    assert perplexity.mean.value == pytest.approx(-good.mean.value)
    against = {pair.other: pair for pair in perplexity.pairs}
    assert against["Noise"].difference > 0.3
    assert against["Good"].reason == "the value is the same without any article"


def test_pair_is_compared_on_the_summaries_that_both_have_scored(worlds):
    for world in worlds:
        partly = world.good.copy()
        partly[world.articles < 8] = np.nan
        world.evaluators.append(setup("Partly", partly))

    row = row_of(table_of(worlds), "Partly")

    assert [figure.estimate.articles for figure in row.figures] == [12, 12, 12]
    against = {pair.other: pair for pair in row.pairs}
    assert against["Good"].reason == "the value is the same without any article"
    assert against["Noise"].p_value < 0.2


def test_evaluators_meet_by_fingerprint_whatever_their_labels(worlds):
    worlds[1].evaluators[0] = setup("Good, renamed", worlds[1].good, fingerprint="Good")

    table = table_of(worlds)

    assert [row.evaluator.label for row in table.rows] == ["Good", "Noise"]
    assert row_of(table, "Good").mean.data_sets == 3


def test_one_data_set_has_no_mean(worlds):
    row = row_of(table_of(worlds[:1]), "Good")

    assert math.isnan(row.mean.value)
    assert row.mean.reason == FEWER_THAN_TWO
    assert row.cluster == ""


def test_data_sets_without_scores_are_counted(worlds):
    del worlds[2].evaluators[0]

    row = row_of(table_of(worlds), "Good")

    assert row.figures[2] is None
    assert row.mean.data_sets == 2
    assert row.mean.left_out == {"data sets without its scores": 1}
    assert row.mean.predicted.reason == "fewer than 3 data sets"
    missing = table_of(worlds).as_json()[2]
    assert (missing["data_set"], missing["value"], missing["n"]) == ("Mails", None, 0)
    assert missing["reason"] == "not scored by this evaluator"


def test_data_sets_in_which_it_is_undefined_are_counted(worlds):
    worlds[0].evaluators[0] = setup("Good", np.ones(80))

    row = row_of(table_of(worlds), "Good")

    assert row.figures[0].estimate.reason == "all scores equal"
    assert row.mean.left_out == {"data sets in which it is undefined": 1}


def test_perfect_value_gives_no_mean_rather_than_one_without_it(worlds):
    worlds[0].evaluators[0] = setup("Good", worlds[0].labels.values)

    row = row_of(table_of(worlds), "Good")

    assert row.figures[0].estimate.value == pytest.approx(1)
    assert math.isnan(row.mean.value)
    assert row.mean.reason == "no standard error in News: there is no interval around -1 or 1"


def test_articles_that_an_evaluator_has_seen_do_not_count(worlds):
    worlds[0].evaluators[0] = replace(worlds[0].evaluators[0], seen={EVERY_DIMENSION: frozenset({3, 5})})

    table = table_of(worlds)

    assert row_of(table, "Good").figures[0].estimate.articles == 18
    assert row_of(table, "Noise").figures[0].estimate.articles == 20
    assert not math.isnan(row_of(table, "Good").pairs[0].p_value)


def test_too_few_articles_give_a_value_and_no_error():
    figure = World("Few", 5, n_articles=3).figures().figures["Good"]

    assert not math.isnan(figure.estimate.value)
    assert math.isnan(figure.error)
    assert "articles" in figure.estimate.interval.reason


def test_figures_that_are_there_show_while_others_are_computed(worlds):
    found = [worlds[0].figures(), None, worlds[2].figures()]

    row = row_of(table_of(worlds, found=found), "Good")

    assert [figure is None for figure in row.figures] == [False, True, False]
    assert row.mean.reason == "some data sets are still being computed"


def test_rows_of_files_name_data_set_or_mean(worlds):
    rows = table_of(worlds).as_json()

    assert [row["data_set"] for row in rows] == ["News", "Stories", "Mails", MEAN] * 2
    mean = rows[3]
    assert mean["low"] < mean["value"] < mean["high"]
    assert mean["predicted_low"] <= mean["low"]
    assert 0 <= mean["i_squared"] < 1
    assert mean["cluster"] == "a"
    assert "Paule" in mean["definition"]
    assert rows[0]["project"] == "news"
