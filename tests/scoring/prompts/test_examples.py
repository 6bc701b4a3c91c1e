"""The draw of examples, which gives the same result from the drawn examples alone as from the pool."""

import itertools
from collections import Counter
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.items import PoolExample
from scoring.prompts.examples import bucket, draw, in_random_order

LABELS = [0.0, 0.1, 0.25, 0.26, 0.5, 0.51, 0.75, 0.76, 1.0]


def example(article, number, label):
    return PoolExample(f"{article}-{number}", f"a{article}", "A summary.", {"fluency": label})


def drawn(pool, count=4, seed=0, stratified=True):
    return draw(in_random_order(pool, seed), "fluency", count, seed, stratified=stratified)


def buckets_of(examples):
    return Counter(bucket(each.labels["fluency"]) for each in examples)


@st.composite
def pools(draw_value):
    labels = draw_value(st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=4), max_size=8))
    return [
        example(article, number, label)
        for article, of_article in enumerate(labels)
        for number, label in enumerate(of_article)
    ]


def most_filled(pool, count):
    """Return the number of places that their bucket can fill, by trying every choice."""
    most = ceil(count / 4)
    by_article = itertools.groupby(pool, key=lambda each: each.article_id)
    choices = [{None, *(bucket(each.labels["fluency"]) for each in group)} for _, group in by_article]
    filled = (
        Counter(bucket for bucket in choice if bucket is not None) for choice in itertools.product(*choices)
    )
    return min(count, max(sum(min(most, number) for number in each.values()) for each in filled))


@given(pools(), st.integers(1, 9), st.integers(0, 50), st.booleans())
def test_draw_takes_each_article_once_up_to_the_count(pool, count, seed, stratified):
    found = drawn(pool, count, seed, stratified)
    assert len({each.article_id for each in found}) == len(found)
    assert len(found) == min(count, len({each.article_id for each in pool}))


@given(pools(), st.integers(1, 9), st.integers(0, 50), st.booleans(), st.data())
def test_draw_is_stable_without_undrawn_summaries(pool, count, seed, stratified, data):
    found = drawn(pool, count, seed, stratified)
    others = [each for each in pool if each not in found]
    kept = data.draw(st.lists(st.sampled_from(others), unique_by=id)) if others else []
    assert drawn([*found, *kept], count, seed, stratified) == found
    assert drawn(found, count, seed, stratified) == found


@given(pools(), st.integers(1, 9), st.integers(0, 50))
def test_stratified_draw_fills_as_many_places_as_possible(pool, count, seed):
    most = ceil(count / 4)
    found = buckets_of(drawn(pool, count, seed))
    assert sum(min(most, number) for number in found.values()) >= most_filled(pool, count)


@given(pools(), st.integers(1, 9), st.integers(0, 50), st.booleans(), st.randoms())
def test_pool_order_does_not_matter(pool, count, seed, stratified, random):
    mixed = random.sample(pool, len(pool))
    assert drawn(mixed, count, seed, stratified) == drawn(pool, count, seed, stratified)


def test_boundary_label_belongs_to_the_lower_bucket(subtests):
    cases = [(0, 0), (0.25, 0), (0.2500001, 1), (0.5, 1), (0.5000001, 2), (0.75, 2), (0.7500001, 3), (1, 3)]
    for label, number in cases:
        with subtests.test(label=label, number=number):
            assert bucket(label) == number


def test_every_bucket_gives_one_of_four_examples():
    pool = [example(article, 0, 1.0) for article in range(50)]
    pool += [example(50, 0, 0.0), example(51, 0, 0.4), example(52, 0, 0.6)]
    for seed in range(20):
        assert buckets_of(drawn(pool, seed=seed)) == {0: 1, 1: 1, 2: 1, 3: 1}


def test_article_in_two_buckets_goes_to_the_one_without_another():
    pool = [
        example(0, 0, 0.1),
        example(0, 1, 0.4),
        example(1, 0, 0.4),
        example(2, 0, 0.6),
        example(3, 0, 0.9),
    ]
    for seed in range(20):
        assert buckets_of(drawn(pool, seed=seed)) == {0: 1, 1: 1, 2: 1, 3: 1}


def test_empty_bucket_is_replaced_by_any_example():
    pool = [example(article, 0, label) for article, label in enumerate([0.0, 0.3, 1.0] * 20)]
    seen = Counter()
    for seed in range(60):
        found = buckets_of(drawn(pool, seed=seed))
        assert set(found) == {0, 1, 3}
        seen[next(number for number, times in found.items() if times == 2)] += 1
    assert set(seen) == {0, 1, 3}


def test_fewer_than_four_examples_come_from_varying_buckets():
    pool = [example(article, 0, label) for article, label in enumerate(LABELS * 5)]
    found = [buckets_of(drawn(pool, 2, seed)) for seed in range(40)]
    assert all(max(each.values()) == 1 for each in found)
    assert len({frozenset(each) for each in found}) == 6


def test_more_than_four_examples_are_spread_evenly_over_buckets():
    pool = [example(article, 0, label) for article, label in enumerate(LABELS * 5)]
    assert set(buckets_of(drawn(pool, 8)).values()) == {2}
    assert sorted(buckets_of(drawn(pool, 5)).values()) == [1, 1, 1, 2]


def test_rarer_of_two_labels_gets_its_places():
    pool = [example(article, 0, float(article % 10 == 0)) for article in range(80)]
    assert buckets_of(drawn(pool, 2)) == {0: 1, 3: 1}
    assert buckets_of(drawn(pool, 8))[0] >= 2


def test_examples_of_a_bucket_are_drawn_equally_often():
    pool = [example(article, 0, label) for article, label in enumerate([0.1, 0.3, 0.6, 0.9] * 5)]
    times = Counter(each.id for seed in range(400) for each in drawn(pool, seed=seed))
    assert len(times) == 20
    # 400 draws from 5: 80 expected, standard deviation 8
    assert all(48 < number < 112 for number in times.values())


def test_examples_are_not_ordered_by_label():
    pool = [example(article, 0, label) for article, label in enumerate(LABELS * 5)]
    orders = {tuple(bucket(each.labels["fluency"]) for each in drawn(pool, seed=seed)) for seed in range(60)}
    assert len(orders) > 12


def test_large_draw_from_a_large_pool_is_fast():
    pool = [
        example(article, number, LABELS[(article + number) % 9])
        for article in range(500)
        for number in range(4)
    ]
    assert set(buckets_of(drawn(pool, 64)).values()) == {16}
