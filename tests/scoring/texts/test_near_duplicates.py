"""Groups of texts that nearly repeat each other, compared with the plain definition."""

from itertools import combinations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scoring.texts.near_duplicates import SHORTEST, SKETCHED, Sketches, near_duplicates, sketch
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


class TestSketches:
    """Near-duplicates of texts of which only a sample of 5-grams is known."""

    @settings(max_examples=300)
    @given(st.lists(WORDS | SENTENCES, max_size=8), WORDS | SENTENCES)
    @example([STORY], STORY.replace("word20", "corrected"))
    def test_where_the_sample_is_whole_none_is_missed_and_none_invented(self, seen, text):
        assert all(len(five_grams(each)) <= SKETCHED for each in seen)
        alike = any(by_definition([each, text]) == [0, 0] for each in seen)
        assert (text in Sketches(map(sketch, seen))) == alike

    def test_corrected_copies_of_long_texts_are_found_and_other_texts_are_not(self):
        seen = [numbered(1000 * number, 600) for number in range(40)]
        sketches = Sketches(map(sketch, seen))
        for number, text in enumerate(seen):
            assert text in sketches
            assert text.replace(f"other{1000 * number + 300} ", "corrected ") in sketches
            assert f"{text} {STORY}" in sketches
        assert not any(numbered(1000 * number + 600, 400) in sketches for number in range(40))

    def test_of_texts_near_the_limit_few_are_misjudged(self):
        seen = [numbered(1000 * number, 504) for number in range(200)]
        sketches = Sketches(map(sketch, seen))

        def found(shared):
            """Return how many texts of 500 5-grams are found of which so many are in a seen text."""
            return sum(
                f"{numbered(1000 * number, shared + 4)} {numbered(10**6 + 1000 * number, 496 - shared)}"
                in sketches
                for number in range(200)
            )

        assert found(shared=450) > 190
        assert found(shared=350) < 20

    def test_beginnings_are_found_down_to_an_eighth(self):
        long = numbered(0, 64 * SHORTEST + 4)
        assert " ".join(long.split()[:300]) in Sketches([sketch(long)])
        assert " ".join(long.split()[: 64 + 3]) not in Sketches([sketch(long)])
        assert long in Sketches([sketch(" ".join(long.split()[:60]))])

    def test_sketches_are_the_same_in_every_process(self):
        assert sketch("The cat sat on the mat.") == "AgAAAEUv859jjGz7"
