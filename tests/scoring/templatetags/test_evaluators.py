"""Template filters for names of evaluators and dimensions."""

import pytest

from scoring.templatetags.evaluators import dimension_title, dimensions_in_words, evaluator_title


def test_evaluator_is_shown_by_its_title_or_else_its_name():
    assert evaluator_title("ice") == "ICE"
    assert evaluator_title("of an earlier version") == "of an earlier version"


def test_dimension_is_shown_in_words():
    assert dimension_title("main_ideas") == "Main ideas"


@pytest.mark.parametrize(
    ("dimensions", "higher_is_better", "words"),
    [
        (None, True, "each dimension of its parameters or of the labelled pool"),
        (["general"], False, "one number, compared with every dimension; lower is better"),
        (["fluency", "coherence"], True, "fluency, coherence"),
    ],
)
def test_dimensions_of_an_evaluator_are_described_in_words(dimensions, higher_is_better, words):
    assert dimensions_in_words({"dimensions": dimensions, "higher_is_better": higher_is_better}) == words
