"""Matching and mismatched texts made from articles and references."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.texts.text_digests import text_digest
from scoring.texts.sentences import sentences
from scoring.texts.tokens import unicode_words
from scoring.trainers.umse_pairs import SIMILAR, Matching, Shortcuts, Source, matchings, shortcuts

SCENARIOS = ("sum_ref", "sum_doc", "sum_doc_ref")
TOPICS = ("storms", "trains", "elections", "bees")


def source(number, references=1):
    topic = TOPICS[number % len(TOPICS)]
    article = " ".join(f"Report n{number} tells fact {place} on {topic}." for place in range(6))
    told = tuple(
        f"Reference {place} to n{number} sums it up. So n{number} ends, {place} times."
        for place in range(references)
    )
    return Source(text_digest(article), article, told, "en")


SOURCES = [source(number) for number in range(12)]


def topic_of(number):
    return number % len(TOPICS)


def lead(text):
    return " ".join(sentences(text)[:3])


def pairs(found):
    """Return each match with its one mismatch."""
    assert [each.label for each in found] == [1, 0] * (len(found) // 2)
    return list(zip(found[::2], found[1::2], strict=True))


def test_the_first_three_sentences_match_a_reference():
    positive, _ = pairs(matchings(SOURCES, ["sum_ref"], 1, 0, as_long=False))[0]
    assert positive.texts == (lead(SOURCES[0].article), SOURCES[0].references[0])


@pytest.mark.parametrize("scenario", ["sum_ref", "sum_doc_ref"])
@pytest.mark.parametrize("words", [1, 4, 7, 14, 40])
def test_as_many_of_the_first_sentences_match_as_come_nearest_to_the_mismatch_in_words(scenario, words):
    # Each sentence of the articles has seven words. A mismatch has one, and the rest of a reference.
    rest = " ".join(["Rest", *["more"] * (words - 1)])
    sources = [replace(each, references=(f"{rest}. {rest}.",)) for each in SOURCES]
    for positive, negative in pairs(matchings(sources, [scenario], 1, 0)):
        match = sentences(positive.texts[0])
        article = next(each.article for each in SOURCES if match[0] in each.article)
        assert match == sentences(article)[: len(match)]
        long = len(unicode_words(negative.texts[0]))
        assert long == words + 7
        assert len(match) == min((1, 2, 3), key=lambda count: abs(7 * count - long))


def test_first_sentences_without_words_do_not_match_by_themselves():
    sources = [replace(each, article=f"***! {each.article}") for each in SOURCES]
    for positive, _ in pairs(matchings(sources, ["sum_ref"], 1, 0)):
        assert unicode_words(positive.texts[0])


def test_a_reference_matches_its_article():
    positive, _ = pairs(matchings(SOURCES, ["sum_doc"], 1, 0))[0]
    assert positive.texts == (SOURCES[0].references[0], SOURCES[0].article)


def test_a_triple_has_lead_article_and_reference():
    positive, _ = pairs(matchings(SOURCES, ["sum_doc_ref"], 1, 0, as_long=False))[0]
    assert positive.texts == (lead(SOURCES[0].article), SOURCES[0].article, SOURCES[0].references[0])


@pytest.mark.parametrize("scenario", ["sum_ref", "sum_doc_ref"])
def test_in_summary_matching_the_mismatch_is_a_similar_articles_reference_with_one_right_sentence(scenario):
    found = pairs(matchings(SOURCES, [scenario], 1, 0))
    assert len(found) == len(SOURCES)
    for number, (positive, negative) in enumerate(found):
        assert negative.texts[1:] == positive.texts[1:]
        changed = sentences(negative.texts[0])
        right = [each for each in changed if each in sentences(SOURCES[number].article)[:3]]
        [foreign] = [each for each in changed if each not in right]
        assert len(right) == 1
        [other] = [place for place, each in enumerate(SOURCES) if foreign in each.references[0]]
        assert other != number
        # The references tell nothing of the topic: only the articles are similar.
        assert topic_of(other) == topic_of(number)


def test_in_document_matching_the_mismatch_has_one_sentence_of_a_similar_articles_reference():
    found = pairs(matchings(SOURCES, ["sum_doc"], 1, 0))
    assert len(found) == len(SOURCES)
    for number, (positive, negative) in enumerate(found):
        assert negative.texts[1:] == positive.texts[1:]
        own, changed = (sentences(each.texts[0]) for each in (positive, negative))
        [(_, foreign)] = [each for each in zip(own, changed, strict=True) if each[0] != each[1]]
        [other] = [place for place, each in enumerate(SOURCES) if foreign in each.references[0]]
        assert other != number
        assert topic_of(other) == topic_of(number)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_several_mismatches_come_from_different_articles(scenario):
    found = matchings(SOURCES[:12:4], [scenario], 2, 0)
    assert [each.label for each in found] == [1, 0, 0] * 3
    for start in range(0, 9, 3):
        assert len({each.texts[0] for each in found[start : start + 3]}) == 3


def test_each_reference_gives_examples():
    several = [source(number, references=3) for number in range(5)]
    assert sum(each.label for each in matchings(several, ["sum_ref"], 1, 0)) == 15
    positives = [each.texts[0] for each in matchings(several, ["sum_doc"], 1, 0) if each.label]
    assert sorted(positives) == sorted(each for source in several for each in source.references)


def test_references_of_one_sentence_are_not_in_summary_matching():
    short = Source("short", SOURCES[4].article.replace("n4", "n40"), ("One sentence on n40.",), "en")
    sources = [*SOURCES[:3], short, *SOURCES[5:8]]
    for scenario in ("sum_ref", "sum_doc_ref"):
        found = matchings(sources, [scenario], 1, 0)
        assert len(found) == 2 * 6
        assert not any("n40" in text for each in found for text in each.texts)
    assert len(matchings(sources, ["sum_doc"], 1, 0)) == 2 * 7


def test_a_mismatch_never_comes_from_the_same_article():
    one, other = (source(number, references=4) for number in (0, 4))
    for positive, negative in pairs(matchings([one, other], SCENARIOS, 1, 0)):
        mine, foreign = (one, other) if "n0" in positive.texts[0] else (other, one)
        told = " ".join((mine.article, *mine.references))
        [wrong] = [each for each in sentences(negative.texts[0]) if each not in told]
        assert wrong in " ".join(foreign.references)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("copies", [1, SIMILAR + 2])
def test_a_mismatch_never_comes_from_a_near_duplicate(scenario, copies):
    known = SOURCES[0]
    repeating = [
        replace(
            known,
            digest=f"copy {number}",
            article=f"{known.article} Copy {number}.",
            references=(f"Copy {number} has this reference. Copy {number} ends so.",),
        )
        for number in range(copies)
    ]
    found = pairs(matchings([*repeating, *SOURCES], [scenario], 1, 0))
    assert len(found) == copies + len(SOURCES)
    told = " ".join(text for each in (known, *repeating) for text in (each.article, *each.references))
    for positive, negative in found:
        if "n0 " in " ".join(positive.texts):
            [foreign] = [each for each in sentences(negative.texts[0]) if each not in told]
            assert foreign.startswith(("Reference", "So"))


def test_the_steps_of_the_search_are_not_logged(caplog):
    matchings(SOURCES, SCENARIOS, 1, 0)
    assert not caplog.records


def test_without_another_article_there_are_no_examples():
    assert matchings(SOURCES[:1], SCENARIOS, 1, 0) == []
    assert matchings([], SCENARIOS, 1, 0) == []


def test_a_seed_gives_the_same_examples_and_another_seed_others():
    assert matchings(SOURCES, SCENARIOS, 1, 0) == matchings(SOURCES, SCENARIOS, 1, 0)
    assert matchings(SOURCES, SCENARIOS, 1, 0) != matchings(SOURCES, SCENARIOS, 1, 1)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=60), st.lists(st.text(min_size=1), min_size=1, max_size=2)),
        max_size=6,
    )
)
def test_any_text_gives_balanced_examples_that_differ(texts):
    sources = [
        Source(str(number), article, tuple(references)) for number, (article, references) in enumerate(texts)
    ]
    for positive, negative in pairs(matchings(sources, SCENARIOS, 1, 0)):
        assert text_digest(positive.texts[0]) != text_digest(negative.texts[0])


def example(summary, reference, label):
    return Matching("sum_ref", (summary, reference), label, "digest")


def test_shortcuts_are_shares_of_pairs_that_a_plain_property_tells_apart():
    found = [
        example("The cat sat there.", "A cat sat down.", 1),
        example("Dogs run.", "A cat sat down.", 0),
        example("It rains.", "The sun shines.", 1),
        example("It snows.", "The sun shines.", 0),
    ]
    # The first match has more words of its reference and is longer; the second ties in both.
    assert shortcuts(found) == Shortcuts(words=0.75, length=0.75)


def test_length_tells_pairs_apart_too_where_matches_are_shorter():
    found = [example("A cat.", "A cat sat.", 1), example("Two dogs ran far away.", "A cat sat.", 0)]
    assert shortcuts(found) == Shortcuts(words=1, length=1)


def test_each_mismatch_is_compared_with_its_match():
    match = example("A cat sat.", "A cat.", 1)
    others = [example("A cat ran.", "A cat.", 0), example("Two dogs ran there.", "A cat.", 0)]
    # The match ties with one mismatch and shares more words than the other, which is longer.
    assert shortcuts([match, *others]) == Shortcuts(words=0.75, length=0.75)
