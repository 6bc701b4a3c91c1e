"""Stop words from the list and from the parameter."""

from scoring.texts.stop_words import ENGLISH, chosen


def test_english_list_has_contractions_whole_and_in_parts():
    assert len(ENGLISH) == 179
    assert {"the", "of", "not", "isn't", "isn", "you'll", "ll"} <= ENGLISH
    assert not {"cat", "said", "Monday", ""} & ENGLISH


def test_given_words_are_added_in_lower_case():
    assert chosen("none", ()) == frozenset()
    assert chosen("none", ("The", "mat")) == {"the", "mat"}
    assert chosen("english", ("mat",)) == ENGLISH | {"mat"}
