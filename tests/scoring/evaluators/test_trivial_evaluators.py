import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.evaluator import GENERAL, EvaluatorError
from scoring.contract.items import Item, PoolExample
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator


def score(name, *items, **settings):
    evaluator_class = load_evaluator(name)
    return evaluator_class(read_params(evaluator_class, settings)).score(items)


def value(name, item, **settings):
    [scored] = score(name, item, **settings)
    return scored.values[GENERAL]


def labelled(id, article_id="a1", **labels):
    return PoolExample(id, article_id, "A summary.", labels)


def fitted_majority(*pool):
    evaluator_class = load_evaluator("majority")
    evaluator = evaluator_class(evaluator_class.Params())
    evaluator.fit(pool)
    return evaluator


class TestLength:
    @pytest.mark.parametrize(("summary", "words"), [("", 0), (" ", 0), ("One.", 1), (" two\n words ", 2)])
    def test_length_counts_words_between_white_space(self, summary, words):
        assert value("length", Item("1", summary)) == words

    def test_length_counts_characters_in_text_without_spaces(self):
        assert value("length", Item("1", "猫坐在垫子上。\n"), unit="characters") == 7


class TestCopyRate:
    def test_summary_that_begins_like_the_article_is_a_copy(self):
        assert (
            value("copy_rate", Item("1", "The cat sat and then left.", article="The cat sat on a mat.")) == 1
        )

    def test_summary_that_begins_differently_is_not_a_copy(self):
        assert (
            value("copy_rate", Item("1", "A cat sat on the mat here.", article="The cat sat on a mat.")) == 0
        )

    def test_case_matters(self):
        assert value("copy_rate", Item("1", "the cat sat on a mat.", article="The cat sat on a mat.")) == 0

    def test_only_the_start_of_the_article_is_compared(self):
        assert (
            value("copy_rate", Item("1", "It was a good mat.", article="The cat sat. It was a good mat."))
            == 0
        )

    def test_white_space_is_normalised_first(self):
        item = Item("1", " The\ncat  sat", article="\tThe cat sat on a mat.")
        assert value("copy_rate", item, share="1") == 1

    def test_leading_share_is_rounded_up_exactly(self):
        # 15 characters: the first 3 must match; 0.2 * 15 is 3.0000000000000004 in floating point.
        assert value("copy_rate", Item("1", "abc" + 12 * "z", article="abcdef")) == 1
        # 16 characters: 3.2, so the first 4.
        assert value("copy_rate", Item("1", "abc" + 13 * "z", article="abcdef")) == 0

    def test_share_is_a_parameter(self):
        item = Item("1", "abcdefghXX", article="abcdefgh...")
        assert value("copy_rate", item, share="0.8") == 1
        assert value("copy_rate", item, share="0.9") == 0

    @pytest.mark.parametrize("article", [None, "", " \n"])
    def test_no_score_without_an_article(self, article):
        [scored] = score("copy_rate", Item("1", "A summary.", article=article))
        assert scored.reasons == {GENERAL: "no article"}

    def test_an_invisible_summary_has_no_length(self):
        for unit in ("words", "characters"):
            [scored] = score("length", Item("1", "\u200b \u2060"), unit=unit)
            assert scored.values[GENERAL] == 0

    def test_an_empty_summary_has_no_score(self):
        [scored] = score("copy_rate", Item("1", " ", article="An article."))
        assert scored.reasons == {GENERAL: "empty summary"}
        assert math.isnan(scored.values[GENERAL])

    @given(st.text(), st.text(min_size=1))
    def test_beginning_of_an_article_is_always_a_copy(self, more, article):
        [scored] = score("copy_rate", Item("1", article, article=article + more))
        assert scored.reasons or scored.values[GENERAL] == 1


class TestMajority:
    def test_every_summary_gets_the_most_frequent_label(self):
        evaluator = fitted_majority(
            labelled("1", grammar=1.0, attribution=0.0),
            labelled("2", grammar=1.0, attribution=0.0),
            labelled("3", grammar=0.0, attribution=1.0),
        )
        assert evaluator.dimensions == ("attribution", "grammar")
        [one, two] = evaluator.score([Item("x", "Anything."), Item("y", "")])
        assert one.values == two.values == {"attribution": 0.0, "grammar": 1.0}

    def test_lowest_of_equally_frequent_labels_wins(self):
        evaluator = fitted_majority(labelled("1", grammar=1.0), labelled("2", grammar=0.0))
        assert evaluator.score([Item("x", "Anything.")])[0].values == {"grammar": 0.0}

    def test_every_article_of_the_pool_counts_as_seen(self):
        evaluator = fitted_majority(labelled("1", "a1", grammar=1.0), labelled("2", "a2", grammar=0.0))
        assert evaluator.seen.all_article_ids == {"a1", "a2"}

    @pytest.mark.parametrize("pool", [(), (labelled("1"),)])
    def test_pool_without_labels_is_refused(self, pool):
        with pytest.raises(EvaluatorError, match="no label") as refusal:
            fitted_majority(*pool)
        assert refusal.value.permanent
