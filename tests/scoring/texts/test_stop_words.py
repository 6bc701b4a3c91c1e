"""Stop words: a list, and words given beside it."""

from scoring.texts.stop_words import ENGLISH, chosen


def test_the_english_list_has_function_words_with_contractions_whole_and_in_parts():
    assert len(ENGLISH) == 179
    assert {"the", "of", "not", "isn't", "isn", "you'll", "ll"} <= ENGLISH
    assert not {"cat", "said", "Monday", ""} & ENGLISH


def test_words_given_join_the_list_in_lower_case():
    assert chosen("none", ()) == frozenset()
    assert chosen("none", ("The", "mat")) == {"the", "mat"}
    assert chosen("english", ("mat",)) == ENGLISH | {"mat"}
