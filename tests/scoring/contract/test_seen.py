import pytest

from scoring.contract.items import Item, PoolExample
from scoring.contract.seen import EVERY_DIMENSION, Seen


def pool_example(id="e1", article_id="a1", **overrides):
    return PoolExample(id, article_id, **{"summary": "S", "labels": {"fluency": 0.5}, **overrides})


def test_seen_does_not_depend_on_order_or_repetition():
    one, two = pool_example(), pool_example("e2", "a2")
    assert Seen.of([one, two]) == Seen.of([two, one, two])
    assert Seen.of([one, two]).all_article_ids == {"a1", "a2"}
    assert Seen.of([two, one]).example_ids == ("e1", "e2")


@pytest.mark.parametrize(
    "change",
    [
        {"labels": {"fluency": 0.6}},
        {"summary": "T"},
        {"article": "A"},
        {"references": ("R",)},
        {"article_id": "a9"},
    ],
)
def test_every_change_of_an_example_changes_the_digest(change):
    assert Seen.of([pool_example()]).digest != Seen.of([pool_example(**change)]).digest


def test_articles_are_seen_in_the_dimensions_of_their_labels():
    both = pool_example("e2", "a2", article="Text.", labels={"fluency": 0.1, "coherence": 0.2})
    seen = Seen.of([pool_example(), both])
    assert seen.article_ids == {"fluency": {"a1", "a2"}, "coherence": {"a2"}}
    assert seen.all_text_digests == seen.text_digests["coherence"]
    asked = ("coherence", "fluency", "relevance")
    assert seen.dimensions_of(Item("1", "S", article_id="a1"), asked) == {"fluency"}
    assert seen.dimensions_of(Item("1", "S", article_id="b", article="text."), asked) == {
        "coherence",
        "fluency",
    }


def test_only_what_was_learnt_from_counts():
    one, two = pool_example(), pool_example("e2", "a2", labels={"fluency": 0.1, "coherence": 0.2})
    seen = Seen.of([one, two], {"fluency": [one], "coherence": [two]})
    assert seen.article_ids == {"fluency": {"a1"}, "coherence": {"a2"}}
    assert seen.digest == Seen.of([one, two]).digest


def test_members_together_have_seen_what_each_has():
    seen = Seen.by_any([Seen.of([pool_example()]), Seen({EVERY_DIMENSION: frozenset({"a9"})})])
    assert seen.article_ids == {"fluency": {"a1"}, EVERY_DIMENSION: {"a9"}}
    assert seen.dimensions_of(Item("1", "S", article_id="a9"), ["coherence"]) == {"coherence"}
