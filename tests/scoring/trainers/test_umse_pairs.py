"""Matching and mismatched texts made from articles and references."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.texts.text_digests import text_digest
from scoring.texts.sentences import sentences
from scoring.trainers.umse_pairs import Source, matchings

SCENARIOS = ("sum_ref", "sum_doc", "sum_doc_ref")
TOPICS = ("storms", "trains", "elections", "bees")


def source(number, references=1):
    topic = TOPICS[number % len(TOPICS)]
    article = " ".join(f"Report n{number} tells fact {place} on {topic}." for place in range(6))
    told = tuple(
        f"Reference {place} to n{number} sums up {topic}. It ends here, n{number} {place}."
        for place in range(references)
    )
    return Source(text_digest(article), article, told, "en")


SOURCES = [source(number) for number in range(12)]


def lead(text):
    return " ".join(sentences(text)[:3])


def test_the_first_three_sentences_match_a_reference():
    positive, _ = matchings(SOURCES, ["sum_ref"], 1, 0)[:2]
    assert positive.texts == (lead(SOURCES[0].article), SOURCES[0].references[0])
    assert positive.label == 1


def test_a_reference_matches_its_article():
    positive, _ = matchings(SOURCES, ["sum_doc"], 1, 0)[:2]
    assert positive.texts == (SOURCES[0].references[0], SOURCES[0].article)


def test_a_triple_has_lead_article_and_reference():
    positive, _ = matchings(SOURCES, ["sum_doc_ref"], 1, 0)[:2]
    assert positive.texts == (lead(SOURCES[0].article), SOURCES[0].article, SOURCES[0].references[0])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_mismatch_has_one_sentence_of_a_similar_summary(scenario):
    found = matchings(SOURCES, [scenario], 1, 0)
    assert [each.label for each in found] == [1, 0] * len(SOURCES)
    for positive, negative in zip(found[::2], found[1::2], strict=True):
        assert negative.texts[1:] == positive.texts[1:]
        own, changed = (sentences(each.texts[0]) for each in (positive, negative))
        swapped = [pair for pair in zip(own, changed, strict=True) if pair[0] != pair[1]]
        assert len(swapped) == 1
        topic = next(each for each in TOPICS if each in positive.texts[0])
        foreign = swapped[0][1]
        assert topic in foreign or "ends here" in foreign  # BM25 finds the same topic
        assert foreign not in positive.texts[0]


def test_several_mismatches_come_from_different_summaries():
    found = matchings(SOURCES[:12:4], ["sum_doc"], 2, 0)
    assert [each.label for each in found] == [1, 0, 0] * 3
    for start in range(0, 9, 3):
        assert len({each.texts[0] for each in found[start : start + 3]}) == 3


def test_each_reference_gives_examples():
    several = [source(number, references=3) for number in range(5)]
    assert sum(each.label for each in matchings(several, ["sum_ref"], 1, 0)) == 15
    positives = [each.texts[0] for each in matchings(several, ["sum_doc"], 1, 0) if each.label]
    assert sorted(positives) == sorted(each for source in several for each in source.references)


def test_a_foreign_sentence_never_comes_from_the_same_article():
    one, other = (source(number, references=4) for number in (0, 4))
    for scenario in SCENARIOS:
        found = matchings([one, other], [scenario], 1, 0)
        for positive, negative in zip(found[::2], found[1::2], strict=True):
            own, changed = (set(sentences(each.texts[0])) for each in (positive, negative))
            [foreign] = changed - own
            mine = one if any("n0" in each for each in own) else other
            assert foreign not in " ".join((mine.article, *mine.references))


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
    found = matchings(sources, SCENARIOS, 1, 0)
    assert [each.label for each in found] == [1, 0] * (len(found) // 2)
    for positive, negative in zip(found[::2], found[1::2], strict=True):
        assert text_digest(positive.texts[0]) != text_digest(negative.texts[0])
