"""Calibration out of fold: no summary's value depends on labels of its own article."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.contract import GENERAL, EvaluatorError, Item, Member, PoolExample
from scoring.evaluators.calibrated import Calibrated
from scoring.fingerprints import fingerprint
from scoring.out_of_fold import Cut, Isotonic, Labelled
from scoring.params import read_params

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
    evaluator.appoint([member])
    evaluator.fit(pool)
    return evaluator


def item_of(example: PoolExample) -> Item:
    return Item(example.id, example.summary, article_id=example.article_id, scores=example.scores)


def values_of(evaluator: Calibrated, examples=POOL) -> list[float]:
    return [each.values["fluency"] for each in evaluator.score([item_of(each) for each in examples])]


@settings(max_examples=20)
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
    for output, fit in (("label", Isotonic.of), ("decision", lambda training: Cut.of(training, 0.5))):
        evaluator = calibrated(folds=10, output=output)
        for example, value in zip(POOL, values_of(evaluator), strict=True):
            others = [
                Labelled(each.article_id, each.scores["judge"]["fluency"], each.labels["fluency"])
                for each in POOL
                if each.article_id != example.article_id
            ]
            assert value == fit(others)(example.scores["judge"]["fluency"])


def test_an_article_without_labels_is_judged_by_all_of_them():
    everything = Isotonic.of(
        [Labelled(each.article_id, each.scores["judge"]["fluency"], each.labels["fluency"]) for each in POOL]
    )
    item = Item("new", "A summary.", article_id="new", scores={"judge": {"fluency": 2.5}})
    [scored] = calibrated().score([item])
    assert scored.values == {"fluency": everything(2.5)}
    assert scored.explanations == {"fluency": "Judge: 2.5"}


def test_the_pool_is_recorded_but_bars_no_article():
    evaluator = calibrated()
    assert set(evaluator.seen.example_ids) == {each.id for each in POOL}
    assert not evaluator.seen.article_ids


def test_articles_that_the_member_has_seen_stay_out_and_teach_nothing():
    evaluator = calibrated(member=replace(JUDGE, seen_articles=frozenset({"a0"})))
    assert evaluator.seen.article_ids == {"a0"}
    assert not any(example.startswith("0/") for example in evaluator.seen.example_ids)


def test_an_evaluator_of_no_dimension_is_calibrated_to_each_that_has_labels():
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


def test_where_lower_is_better_the_map_falls():
    turned = [replace(each, scores={"judge": {"fluency": -each.scores["judge"]["fluency"]}}) for each in POOL]
    evaluator = calibrated(turned, replace(JUDGE, higher_is_better=False))
    assert values_of(evaluator, turned) == values_of(calibrated())


def test_decisions_are_zero_or_one():
    assert set(values_of(calibrated(output="decision"))) == {0.0, 1.0}


def test_no_score_of_the_member_and_no_article_have_their_reasons():
    items = [
        Item("x", "A summary.", article_id="a1"),
        Item("y", "A summary.", scores={"judge": {"fluency": 1.0}}),
    ]
    no_score, no_article = calibrated().score(items)
    assert no_score.reasons == {"fluency": "no score by Judge"}
    assert no_article.reasons["fluency"].startswith("article_id is missing")


def test_a_changed_score_in_the_pool_moves_the_fingerprint():
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
def test_labels_that_cannot_serve_are_refused(pool, params, message):
    with pytest.raises(EvaluatorError, match=message):
        calibrated(pool, **params)


def test_it_is_not_fitted_before_it_has_a_member():
    with pytest.raises(RuntimeError, match="appoint"):
        Calibrated(read_params(Calibrated, {"member": "judge"})).fit(POOL)


def test_only_the_dimensions_that_were_chosen():
    pool = [replace(each, labels={"fluency": 0.5, "relevance": 0.5}) for each in POOL]
    assert calibrated(pool, dimensions="fluency").dimensions == ("fluency",)
    with pytest.raises(EvaluatorError, match="has scored no labelled summary"):
        calibrated(pool, dimensions="style")
