"""Groups of texts that nearly repeat each other, compared with the plain definition."""

from itertools import combinations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scoring.texts.near_duplicates import near_duplicates
from scoring.texts.tokens import unicode_words

STORY = " ".join(f"word{number}" for number in range(40))


def numbered(start, words):
    """Return a text of words that are not in the story."""
    return " ".join(f"other{number}" for number in range(start, start + words))


def five_grams(text):
    words = unicode_words(text)
    return {tuple(words[start : start + 5]) for start in range(len(words) - 4)}


def by_definition(texts):
    """Return what `near_duplicates` should, by comparing all pairs."""
    grams = [five_grams(each) for each in texts]
    groups = list(range(len(texts)))
    for one, other in combinations(range(len(texts)), 2):
        shared, shorter = len(grams[one] & grams[other]), min(len(grams[one]), len(grams[other]))
        if 10 * shared > 8 * shorter:
            joined = {groups[one], groups[other]}
            groups = [min(joined) if each in joined else each for each in groups]
    return groups


FRAGMENTS = [" ".join(f"{letter}{number}" for number in range(6)) for letter in "abcdef"]
WORDS = st.lists(st.sampled_from("ab"), max_size=14).map(" ".join)
SENTENCES = st.lists(st.sampled_from(FRAGMENTS) | st.sampled_from("xyz"), max_size=7).map(" ".join)


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=8) | st.lists(SENTENCES, max_size=14) | st.lists(WORDS | SENTENCES))
@example([])
@example(["", "too few words here"])
@example([STORY, STORY.rpartition(" ")[0]])
def test_no_near_duplicate_is_missed_and_none_invented(texts):
    assert near_duplicates(texts) == by_definition(texts)


def test_a_corrected_word_makes_no_other_text():
    assert near_duplicates([STORY, numbered(0, 40), STORY.replace("word20", "corrected")]) == [0, 1, 0]


def test_case_punctuation_and_white_space_do_not_count():
    assert near_duplicates([STORY, STORY.upper().replace(" ", ",\n")]) == [0, 0]


def test_the_beginning_of_a_text_is_a_near_duplicate_of_it_but_one_long_quotation_is_not():
    beginning = " ".join(STORY.split()[:10])
    assert near_duplicates([beginning, STORY]) == [0, 0]
    assert near_duplicates([f"{beginning} {numbered(0, 30)}", STORY]) == [0, 1]


def test_exactly_four_fifths_of_the_shorter_text_do_not_suffice():
    # 10 5-grams, of which the other text has the first 8 or 9.
    shorter = " ".join(STORY.split()[:14])
    eight, nine = (" ".join(STORY.split()[:words]) + " " + numbered(0, 20) for words in (12, 13))
    assert near_duplicates([shorter, eight]) == [0, 1]
    assert near_duplicates([shorter, nine]) == [0, 0]


def test_near_duplicates_of_near_duplicates_are_in_one_group():
    words = STORY.split()
    first, middle, last = (" ".join(words[start : start + 30]) for start in (0, 5, 10))
    assert near_duplicates([first, last]) == [0, 1]
    assert near_duplicates([first, last, middle]) == [0, 0, 0]


def test_texts_of_fewer_than_five_words_are_alone_even_if_equal():
    assert near_duplicates(["One two three four", "One two three four", ""]) == [0, 1, 2]


def test_a_shared_notice_does_not_join_texts():
    notice = numbered(1000, 60)
    texts = [f"{numbered(2000 + 20 * number, 20)} {notice}" for number in range(300)]
    assert near_duplicates(texts) == list(range(300))
