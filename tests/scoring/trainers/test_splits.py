import unicodedata
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.texts.text_digests import text_digest
from scoring.trainers.contract import TrainingItem
from scoring.trainers.splits import (
    Split,
    SplitParams,
    digests_by_split,
    near_duplicate_counts,
    split_articles,
)

TEXTS = [
    "The cat sat.",
    "The  cat\nsat.",
    "THE CAT SAT.",
    "Ein Café.",
    unicodedata.normalize("NFD", "Ein Café."),
]
TEXTS += ["Ein Ca\u00adfé.", "Another text.", "Otra nota.", "Последний."]
STORY = " ".join(f"word{number}" for number in range(40))
REPEATING = [STORY, STORY.replace("word30", "corrected"), " ".join(STORY.split()[:20])]
"""Near-duplicates with different digests."""
TEXTS += REPEATING
ITEMS = st.lists(
    st.builds(
        TrainingItem,
        id=st.uuids().map(str),
        article_id=st.sampled_from("abcdefgh"),
        article=st.sampled_from(TEXTS) | st.text(min_size=1),
        summary=st.just("A summary."),
        split=st.sampled_from(["", "train", "validation", "test"]),
    ),
    max_size=30,
)
PARAMS = st.builds(
    SplitParams,
    validation_share=st.floats(0.01, 0.5),
    test_share=st.floats(0, 0.9),
    training_share=st.floats(0.001, 1),
    split_seed=st.integers(0, 5),
)


def articles_of(count, **changes):
    return [
        TrainingItem(str(number), f"id-{number}", f"Article {number}.", "A summary.", **changes)
        for number in range(count)
    ]


def sizes(items, **params):
    return Counter(each.split for each in split_articles(items, SplitParams(**params)))


KINDS = st.dictionaries(st.integers(0, 11), st.sets(st.sampled_from(["a", "b"]), min_size=1), min_size=1)


@given(KINDS, st.integers(0, 5), st.floats(0.01, 0.5))
def test_few_articles_are_split_so_that_both_parts_have_each_kind(kinds, seed, share):
    items = [replace(articles_of(12)[number], labels=dict.fromkeys(of, 1.0)) for number, of in kinds.items()]
    params = SplitParams(test_share=0, split_seed=seed, validation_share=share)
    articles = split_articles(items, params, lambda each: each.items[0].labels)
    have = {
        part: Counter(kind for each in articles if each.split is part for kind in each.items[0].labels)
        for part in (Split.TRAIN, Split.VALIDATION)
    }
    only_one_kind = all(len(of) == 1 for of in kinds.values())
    for kind in ("a", "b"):
        total = sum(kind in of for of in kinds.values())
        if total >= 2 and only_one_kind:
            assert all(each[kind] >= 1 for each in have.values())
    before = {each.digest: each.split for each in split_articles(items, params)}
    parts = [[each for each in articles if before[each.digest] is part] for part in have]
    if all({kind for each in part for kind in each.items[0].labels} == {"a", "b"} for part in parts):
        assert before == {each.digest: each.split for each in articles}


@settings(max_examples=200)
@given(ITEMS, PARAMS)
def test_no_text_is_in_two_splits_and_no_test_text_is_seen(items, params):
    splits = defaultdict(set)
    for article in split_articles(items, params):
        for item in article.items:
            splits[text_digest(item.article)].add(article.split)
    assert all(len(each) == 1 for each in splits.values())
    seen = digests_by_split(split_articles(items, params))
    assert not set(seen["train"]) & set(seen["validation"])
    held_out = {text_digest(item.article) for item in items if item.split == "test"}
    assert not held_out & {*seen["train"], *seen["validation"]}
    assert len(set().union(*(splits[text_digest(each)] for each in REPEATING))) <= 1


@settings(max_examples=100)
@given(ITEMS, PARAMS, st.randoms())
def test_the_split_depends_on_no_order_and_no_id(items, params, random):
    shuffled = [
        TrainingItem(
            f"other {item.id}", f"other {item.article_id}", item.article, item.summary, split=item.split
        )
        for item in random.sample(items, len(items))
    ]
    one, other = (digests_by_split(split_articles(each, params)) for each in (items, shuffled))
    assert one == other


def repeating(count, **changes):
    """Return as many pairs of near-duplicates, each with two digests and both in the same place."""
    return [
        TrainingItem(f"{number} {end}", f"id-{number}-{end}", f"{each} {end}", "A summary.", **changes)
        for number in range(count)
        for each in [" ".join(f"w{number}x{place}" for place in range(20))]
        for end in ("one", "other")
    ]


def test_near_duplicates_are_on_one_side_and_each_keeps_its_own_items():
    found = split_articles(repeating(100), SplitParams(test_share=0.5))
    assert len(found) == 200
    assert all(text_digest(each.items[0].article) == each.digest for each in found)
    splits = defaultdict(set)
    for each in found:
        splits[each.items[0].id.split()[0]].add(each.split)
    assert len(splits) == 100
    assert all(len(each) == 1 for each in splits.values())
    assert {Split.TRAIN, Split.TEST} <= set().union(*splits.values())


def test_a_near_duplicate_of_a_test_article_is_a_test_article():
    items = [
        TrainingItem("a", "a", REPEATING[0], "A summary.", split="train"),
        TrainingItem("b", "b", REPEATING[1], "A summary.", split="validation"),
        TrainingItem("c", "c", REPEATING[2], "A summary.", split="test"),
        TrainingItem("d", "d", "Another text.", "A summary.", split="train"),
    ]
    assert sizes(items[1:], validation_share=0.01) == {Split.TEST: 2, Split.TRAIN: 1}
    assert sizes(items, validation_share=0.01) == {Split.TEST: 3, Split.TRAIN: 1}
    assert sizes(items[:2]) == {Split.VALIDATION: 2}


def test_near_duplicates_count_once_and_move_together():
    pair, others = repeating(1, labels={"a": 1.0}), articles_of(2, labels={"b": 1.0})
    for seed in range(10):
        params = SplitParams(test_share=0, split_seed=seed)
        articles = split_articles([*pair, *others], params, lambda each: each.items[0].labels)
        splits = defaultdict(list)
        for each in articles:
            splits[next(iter(each.items[0].labels))].append(each.split)
        # The pair is a single text, so it cannot be in both parts; the others can.
        assert len(set(splits["a"])) == 1
        assert sorted(splits["b"]) == [Split.TRAIN, Split.VALIDATION]


def test_the_number_of_near_duplicates_is_told_if_there_are_any():
    params = SplitParams()
    assert near_duplicate_counts(split_articles(articles_of(5), params)) == {}
    found = split_articles([*articles_of(5), *repeating(2)], params)
    assert near_duplicate_counts(found) == {"Near-duplicate articles": 4}


def test_articles_without_a_split_follow_the_shares():
    found = sizes(articles_of(2000), test_share=0.2, validation_share=0.1)
    assert abs(found[Split.TEST] - 400) < 60
    assert abs(found[Split.VALIDATION] - 160) < 45
    assert sum(found.values()) == 2000


def test_given_splits_are_kept():
    items = [
        *articles_of(3, split="train"),
        TrainingItem("x", "x", "To choose by.", "A summary.", split="validation"),
        TrainingItem("y", "y", "To judge by.", "A summary.", split="test"),
    ]
    assert sizes(items) == {Split.TRAIN: 3, Split.VALIDATION: 1, Split.TEST: 1}


def test_training_articles_give_validation_articles_where_none_are_given():
    found = sizes(articles_of(500, split="train"), validation_share=0.2)
    assert found[Split.TEST] == 0
    assert 70 < found[Split.VALIDATION] < 130


@pytest.mark.parametrize("items", [articles_of(400), repeating(200)], ids=["distinct", "near-duplicates"])
def test_a_smaller_training_share_is_part_of_a_larger_one_and_leaves_validation_as_it_is(items):
    tenth, half, whole = (
        digests_by_split(split_articles(items, SplitParams(training_share=share)))
        for share in (0.1, 0.5, 1.0)
    )
    assert set(tenth["train"]) < set(half["train"]) < set(whole["train"])
    assert tenth["validation"] == half["validation"] == whole["validation"]
    assert (len(tenth["train"]), len(half["train"])) == (
        round(len(whole["train"]) / 10),
        round(len(whole["train"]) / 2),
    )


def test_another_share_seed_takes_other_training_articles():
    items = articles_of(100)
    one, other = (
        digests_by_split(split_articles(items, SplitParams(training_share=0.5, share_seed=seed)))
        for seed in (0, 1)
    )
    assert set(one["train"]) != set(other["train"])
    assert len(one["train"]) == len(other["train"])
    assert one["validation"] == other["validation"]


def test_another_seed_splits_differently():
    items = articles_of(100)
    assert digests_by_split(split_articles(items, SplitParams())) != digests_by_split(
        split_articles(items, SplitParams(split_seed=1))
    )
