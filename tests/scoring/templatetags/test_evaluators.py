"""Names for programs as pages write them for people."""

from scoring.templatetags.evaluators import dimension_title, evaluator_title


def test_an_evaluator_bears_its_title_or_what_is_known_of_it():
    assert evaluator_title("ice") == "ICE"
    assert evaluator_title("of an earlier version") == "of an earlier version"


def test_a_dimension_is_words():
    assert dimension_title("main_ideas") == "Main ideas"
