import math
from dataclasses import dataclass, replace

import pytest

from annotation.declared.settings import setting
from annotation.texts.text_digests import text_digest
from scoring.contract.evaluator import GENERAL, Evaluator, Need, score_unseen
from scoring.contract.fingerprints import fingerprint, signature
from scoring.contract.items import Item, PoolExample
from scoring.contract.scores import Scored, shares_in_words, shares_read
from scoring.contract.seen import EVERY_DIMENSION, Seen


class Loudness(Evaluator):
    """Count the capitals in the summary."""

    name = "loudness"
    title = "Loudness"
    version = 2
    source = "none"

    @dataclass(frozen=True)
    class Params:
        share: bool = setting(False, label="Share", help="As a share of all letters.")
        weight: float = setting(1.0, label="Weight", help="Multiplies the count.")

    def score(self, items):
        counts = [float(sum(map(str.isupper, item.summary))) for item in items]
        return [Scored.of(dict.fromkeys(self.dimensions, count)) for count in counts]


def loud_after(examples, dimensions=("fluency",)):
    """Return an evaluator that has seen the labels of these pool examples."""
    evaluator = Loudness(Loudness.Params())
    evaluator.dimensions = dimensions
    evaluator.seen = Seen.of(examples)
    return evaluator


def pool_example(id="e1", article_id="a1", **overrides):
    return PoolExample(id, article_id, **{"summary": "S", "labels": {"fluency": 0.5}, **overrides})


@pytest.mark.parametrize("label", [-0.1, 1.1, 5, math.nan, math.inf])
def test_pool_label_outside_0_to_1_is_refused(label):
    with pytest.raises(ValueError, match="label 'fluency' of pool example 'e1'"):
        pool_example(labels={"fluency": label})


def test_score_without_number_needs_a_reason():
    with pytest.raises(ValueError, match="nan needs a reason"):
        Scored.of({GENERAL: math.nan})


def test_score_with_number_takes_no_reason():
    with pytest.raises(ValueError, match="nan needs a reason"):
        Scored({GENERAL: 0.0}, {GENERAL: "empty summary"})


def test_infinite_score_is_refused():
    with pytest.raises(ValueError, match="infinite"):
        Scored.of({GENERAL: math.inf})


def test_unscored_has_the_reason_on_every_dimension():
    scored = Scored.unscored(["fluency", "coherence"], "empty summary")
    assert scored.reasons == {"fluency": "empty summary", "coherence": "empty summary"}
    assert all(math.isnan(value) for value in scored.values.values())


def test_summary_of_a_seen_article_is_not_scored():
    evaluator = loud_after([pool_example(article_id="a1")])
    seen, unseen, unknown = score_unseen(
        evaluator, [Item("1", "A", article_id="a1"), Item("2", "BB", article_id="a2"), Item("3", "CCC")]
    )
    assert seen.reasons == {"fluency": "article is in the labelled pool"}
    assert unseen.values == {"fluency": 2.0}
    assert "article_id is missing" in unknown.reasons["fluency"]


def test_summary_of_an_article_seen_in_one_dimension_is_scored_on_the_others():
    evaluator = loud_after([pool_example(article_id="a1")], ("coherence", "fluency"))
    [scored] = score_unseen(evaluator, [Item("1", "A", article_id="a1")])
    assert scored.reasons == {"fluency": "article is in the labelled pool"}
    assert scored.values["coherence"] == 1.0


def test_general_score_stays_for_comparisons_with_labels_not_seen():
    evaluator = loud_after([pool_example(article_id="a1")], (GENERAL,))
    [scored] = score_unseen(evaluator, [Item("1", "A", article_id="a1")])
    assert scored.values == {GENERAL: 1.0}


def test_article_whose_text_was_learnt_is_seen_in_every_dimension():
    evaluator = loud_after([], ("coherence", "fluency"))
    evaluator.seen = Seen(text_digests={EVERY_DIMENSION: frozenset({text_digest("The harbour froze.")})})
    [scored] = score_unseen(evaluator, [Item("1", "A", article_id="a1", article="The harbour froze.")])
    assert scored.reasons.keys() == {"coherence", "fluency"}


@pytest.mark.parametrize(
    "copied",
    [
        {"article": "The HARBOUR\u00a0froze.\n"},
        {"article": None, "article_digest": text_digest("The harbour froze.")},
    ],
    ids=["other white space and case", "known by its digest"],
)
def test_summary_of_a_seen_article_under_another_id_is_not_scored(copied):
    evaluator = loud_after([pool_example(article_id="a1", article="The harbour froze.")])
    items = [Item("1", "A", article_id="b7", **copied), Item("2", "BB", article_id="b8", article="Other.")]
    seen, unseen = score_unseen(evaluator, items)
    assert seen.reasons == {"fluency": "article is in the labelled pool"}
    assert unseen.values == {"fluency": 2.0}


def test_without_its_text_an_article_cannot_be_checked_against_texts():
    evaluator = Loudness(Loudness.Params())
    evaluator.seen = Seen(text_digests={EVERY_DIMENSION: frozenset({text_digest("The harbour froze.")})})
    [unknown] = score_unseen(evaluator, [Item("1", "A", article_id="a1")])
    assert "the article's text is missing" in unknown.reasons[GENERAL]


def test_articles_without_text_are_not_taken_for_one_another():
    evaluator = loud_after([pool_example(article_id="a1", article="")])
    [scored] = score_unseen(evaluator, [Item("1", "A", article_id="a2", article="")])
    assert scored.values == {"fluency": 1.0}


def test_missing_result_raises():
    class Forgetful(Loudness):
        def score(self, items):
            return super().score(items)[1:]

    with pytest.raises(RuntimeError, match="1 results for 2 items"):
        score_unseen(Forgetful(Forgetful.Params()), [Item("1", "A"), Item("2", "B")])


def test_undeclared_dimension_raises():
    class Chatty(Loudness):
        def score(self, items):
            return [Scored.of({"fluency": 1.0}) for _ in items]

    with pytest.raises(RuntimeError, match="declares"):
        score_unseen(Chatty(Chatty.Params()), [Item("1", "A")])


def test_evaluator_without_a_pool_refuses_fit():
    with pytest.raises(NotImplementedError, match="loudness takes no labelled pool"):
        Loudness(Loudness.Params()).fit([pool_example()])


def test_needs_are_json_strings():
    assert [str(need) for need in Need] == ["article", "references", "labelled_pool", "corpus", "scores"]


class TestCorpus:
    class CorpusReader(Evaluator):
        name, title, version, source = "corpus_reader", "CorpusReader", 1, "here"
        needs = frozenset({Need.CORPUS})

    ITEMS = (Item("a", "One.", article="An article."), Item("b", "Two.", references=("A reference.",)))

    def having_seen(self, items) -> Evaluator:
        @dataclass(frozen=True)
        class Params:
            pass

        evaluator = self.CorpusReader(Params())
        evaluator.see_corpus(items)
        return evaluator

    def test_fingerprint_includes_the_corpus_in_any_order(self):
        one = fingerprint(self.having_seen(self.ITEMS))
        assert fingerprint(self.having_seen(self.ITEMS[::-1])) == one
        assert fingerprint(self.having_seen(self.ITEMS[:1])) != one
        assert "corpus:" in signature(self.having_seen(self.ITEMS))

    def test_changed_text_changes_the_fingerprint(self):
        changed = (self.ITEMS[0], replace(self.ITEMS[1], references=("Another reference.",)))
        assert fingerprint(self.having_seen(changed)) != fingerprint(self.having_seen(self.ITEMS))


def test_shares_read_are_below_one():
    with pytest.raises(ValueError, match="share read of 'article' is 1"):
        Scored({GENERAL: 1.0}, shares_read={"article": 1.0})
    assert shares_read([("article", 0.5), ("article", 0.25), ("summary", 1.0)]) == {"article": 0.25}
    assert shares_in_words({"article": 0.714}) == "read: 71% of the article"
    assert shares_in_words({}) == ""


@pytest.mark.parametrize(
    ("language", "is_scored"), [("de-DE", True), ("DE", True), (None, True), ("vi", False)]
)
def test_language_ignores_region_and_case(language, is_scored):
    class GermanLoudness(Loudness):
        languages = frozenset({"de"})

    evaluator = GermanLoudness(GermanLoudness.Params())
    [scored] = score_unseen(evaluator, [Item("i", "Laut", language=language)])
    assert (scored.reasons == {}) is is_scored
