"""Calibration out of fold: a summary's value never depends on labels of its own article."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.evaluator import GENERAL, EvaluatorError, Member
from scoring.contract.fingerprints import fingerprint
from scoring.contract.items import Item, PoolExample
from scoring.contract.params import read_params
from scoring.contract.seen import Seen
from scoring.evaluators.bases.cross_fitting import LabelledScore, best_cut, isotonic
from scoring.evaluators.calibrated import Calibrated

JUDGE = Member("judge", "Judge", ("fluency",))
POOL = [
    PoolExample(
        f"{article}/{system}",
        f"a{article}",
        "A summary.",
        {"fluency": (article * 3 + system * 5) % 7 / 6},
        scores={"judge": {"fluency": (article + 2 * system) % 5}},
    )
    for article in range(10)
    for system in range(4)
]


def calibrated(pool=POOL, member=JUDGE, **params) -> Calibrated:
    evaluator = Calibrated(read_params(Calibrated, {"member": "judge", **params}))
    evaluator.use_members([member])
    evaluator.fit(pool)
    return evaluator


def item_of(example: PoolExample) -> Item:
    return Item(example.id, example.summary, article_id=example.article_id, scores=example.scores)


def values_of(evaluator: Calibrated, examples=POOL) -> list[float]:
    return [each.values["fluency"] for each in evaluator.score([item_of(each) for each in examples])]


@given(st.integers(0, 9), st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=4))
@pytest.mark.parametrize("output", ["label", "decision"])
def test_an_articles_own_labels_do_not_change_its_values(output, article, labels):
    own = [index for index, each in enumerate(POOL) if each.article_id == f"a{article}"]
    changed = list(POOL)
    for index, label in zip(own, labels, strict=True):
        changed[index] = replace(POOL[index], labels={"fluency": label})
    before, after = (values_of(calibrated(pool, output=output)) for pool in (POOL, changed))
    assert [before[index] for index in own] == [after[index] for index in own]


def test_each_value_is_the_fit_to_the_other_folds():
    evaluator = calibrated(folds=10)  # as many as articles: each is left out alone

    def decided(training):
        return lambda score: score >= best_cut(training, 0.5)

    for output, fit in (("label", isotonic), ("decision", decided)):
        evaluator = calibrated(folds=10, output=output)
        for example, value in zip(POOL, values_of(evaluator), strict=True):
            others = [
                LabelledScore(each.article_id, each.scores["judge"]["fluency"], each.labels["fluency"])
                for each in POOL
                if each.article_id != example.article_id
            ]
            assert value == fit(others)(example.scores["judge"]["fluency"])


def test_unlabelled_article_is_calibrated_with_all_labels():
    everything = isotonic(
        [
            LabelledScore(each.article_id, each.scores["judge"]["fluency"], each.labels["fluency"])
            for each in POOL
        ]
    )
    item = Item("new", "A summary.", article_id="new", scores={"judge": {"fluency": 2.5}})
    [scored] = calibrated().score([item])
    assert scored.values == {"fluency": everything(2.5)}
    assert scored.explanations == {"fluency": "Judge: 2.5"}


def test_labels_of_the_same_article_under_another_id_do_not_change_its_values():
    copies = {"a0": "a9", "a3": "a4"}
    pool = [replace(each, article=f"On {copies.get(each.article_id, each.article_id)}.") for each in POOL]
    items = [replace(item_of(each), article=each.article) for each in pool]
    before = calibrated(pool, folds=8).score(items)
    for one, other in copies.items():
        changed = [
            replace(each, labels={"fluency": 0.5}) if each.article_id == one else each for each in pool
        ]
        after = calibrated(changed, folds=8).score(items)
        of_other = [index for index, each in enumerate(pool) if each.article_id == other]
        assert [before[index].values for index in of_other] == [after[index].values for index in of_other]


def test_an_unlabelled_copy_is_calibrated_without_the_labels_of_its_article():
    pool = [replace(each, article=f"Text of {each.article_id}.") for each in POOL]
    copy = Item("copy", "A summary.", article_id="copy", article="text OF a3", scores=pool[12].scores)
    assert pool[12].article_id == "a3"
    evaluator = calibrated(pool)
    assert evaluator.score([copy])[0].values == evaluator.score([item_of(pool[12])])[0].values
    mixed = replace(copy, article_id="a5")
    assert evaluator.score([mixed])[0].reasons == {
        "fluency": "its id and its text belong to different labelled articles"
    }


def test_pool_is_recorded_without_excluding_articles():
    evaluator = calibrated()
    assert set(evaluator.seen.example_ids) == {each.id for each in POOL}
    assert not evaluator.seen.article_ids


def test_articles_seen_by_the_member_are_excluded_from_fitting_and_scoring():
    evaluator = calibrated(member=replace(JUDGE, seen=Seen({"": frozenset({"a0"})})))
    assert evaluator.seen.article_ids == {"": {"a0"}}
    assert not any(example.startswith("0/") for example in evaluator.seen.example_ids)


def test_articles_seen_by_the_member_in_another_dimension_are_fitted():
    pool = [replace(each, labels={**each.labels, "relevance": 0.5}) for each in POOL]
    member = replace(JUDGE, seen=Seen({"relevance": frozenset({"a0"})}))
    assert (
        calibrated(pool, member=member, dimensions="fluency").seen.example_ids
        == calibrated(pool, dimensions="fluency").seen.example_ids
    )


def test_general_evaluator_is_calibrated_to_every_labelled_dimension():
    pool = [
        replace(
            each,
            labels={**each.labels, "relevance": 0.5},
            scores={"judge": {GENERAL: each.scores["judge"]["fluency"]}},
        )
        for each in POOL
    ]
    evaluator = calibrated(pool, Member("judge", "ROUGE", (GENERAL,)))
    assert evaluator.dimensions == ("fluency", "relevance")
    assert values_of(evaluator, pool) == values_of(calibrated())


def test_calibration_is_decreasing_if_lower_is_better():
    turned = [replace(each, scores={"judge": {"fluency": -each.scores["judge"]["fluency"]}}) for each in POOL]
    evaluator = calibrated(turned, replace(JUDGE, higher_is_better=False))
    assert values_of(evaluator, turned) == values_of(calibrated())


def test_decisions_are_zero_or_one():
    assert set(values_of(calibrated(output="decision"))) == {0.0, 1.0}


def test_missing_member_score_and_missing_article_give_reasons():
    items = [
        Item("x", "A summary.", article_id="a1"),
        Item("y", "A summary.", scores={"judge": {"fluency": 1.0}}),
    ]
    no_score, no_article = calibrated().score(items)
    assert no_score.reasons == {"fluency": "no score by Judge"}
    assert no_article.reasons["fluency"].startswith("article_id is missing")


def test_changed_score_in_the_pool_changes_the_fingerprint():
    changed = [replace(POOL[0], scores={"judge": {"fluency": 4.5}}), *POOL[1:]]
    assert fingerprint(calibrated(changed)) != fingerprint(calibrated())


@pytest.mark.parametrize(
    ("pool", "params", "message"),
    [
        (POOL[:12], {}, "needs 20 labelled .* There are 12 of 3 articles, and the smallest fit would have 8"),
        (POOL[:12], {"fewest_labels": 5, "folds": 4}, "of at least 4 articles"),
        ([replace(each, scores={}) for each in POOL], {}, "Judge has scored no labelled summary"),
        (
            [replace(each, labels={"fluency": 1.0}) for each in POOL],
            {"output": "decision"},
            r"no cut on fluency, since in some fit all labels are at or above 0.5",
        ),
    ],
)
def test_unsuitable_labels_are_refused(pool, params, message):
    with pytest.raises(EvaluatorError, match=message):
        calibrated(pool, **params)


def test_fitting_needs_members():
    with pytest.raises(RuntimeError, match="use_members"):
        Calibrated(read_params(Calibrated, {"member": "judge"})).fit(POOL)


def test_only_chosen_dimensions_are_calibrated():
    pool = [replace(each, labels={"fluency": 0.5, "relevance": 0.5}) for each in POOL]
    assert calibrated(pool, dimensions="fluency").dimensions == ("fluency",)
    with pytest.raises(EvaluatorError, match="has scored no labelled summary"):
        calibrated(pool, dimensions="style")
