"""Intervals of measures of the validation examples."""

from dataclasses import dataclass

import numpy as np
import pytest

from scoring.trainers.validation_intervals import FEWEST_ARTICLES, validation_intervals


@dataclass(frozen=True)
class Example:
    article: str


def examples(articles, each):
    return [Example(str(article)) for article in range(articles) for _ in range(each)]


def mean(_, outputs):
    return {"mean": float(outputs.mean())}


def test_articles_are_drawn_with_all_their_examples():
    of_articles = np.random.default_rng(1).normal(size=40)
    [(low, high)] = validation_intervals(mean, examples(40, 5), np.repeat(of_articles, 5)).values()
    # Five copies of a number tell no more than one.
    expected = 1.96 * of_articles.std() / np.sqrt(40)
    assert (high - low) / 2 == pytest.approx(expected, rel=0.1)
    assert low < of_articles.mean() < high


def test_the_examples_go_with_their_outputs():
    def same(chosen, outputs):
        assert [float(each.article) for each in chosen] == outputs.tolist()
        return {"sum": float(outputs.sum())}

    shuffled = [examples(20, 1)[place] for place in np.random.default_rng(2).permutation(20)]
    assert validation_intervals(same, shuffled, np.array([float(each.article) for each in shuffled]))


def test_the_same_examples_have_the_same_interval():
    outputs = np.arange(60.0)
    assert validation_intervals(mean, examples(20, 3), outputs) == validation_intervals(
        mean, examples(20, 3), outputs
    )


def test_few_articles_have_none_however_many_examples():
    few = examples(FEWEST_ARTICLES - 1, 50)
    assert validation_intervals(mean, few, np.arange(len(few), dtype=float)) == {}
    enough = examples(FEWEST_ARTICLES, 1)
    assert validation_intervals(mean, enough, np.arange(len(enough), dtype=float))


def test_a_measure_that_is_often_undefined_or_always_the_same_has_none():
    def measures(_, outputs):
        return {"rare": float("nan") if 0 not in outputs else 1 + outputs.mean(), "same": 0.5}

    assert validation_intervals(measures, examples(20, 1), np.arange(20.0)) == {}
