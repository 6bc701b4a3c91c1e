import gzip
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize

from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.further_cases import with_further

VARIANTS = ("1", "2", "L", "Lsum")
MEASURES = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}


def rouge(**settings):
    evaluator_class = load_evaluator("rouge")
    return evaluator_class(read_params(evaluator_class, settings))


def value(item, **settings):
    [scored] = rouge(**settings).score([item])
    return scored.values[GENERAL]


def reason(item, **settings):
    [scored] = rouge(**settings).score([item])
    assert math.isnan(scored.values[GENERAL])
    return scored.reasons[GENERAL]


def expected(item, variant, measure="f1", several="max", stem=False):
    """Return rouge-score's value: its own choice of the best reference, or the mean over all."""
    scorer = RougeScorer([f"rouge{variant}"], use_stemmer=stem)
    if several == "max":
        return getattr(
            scorer.score_multi(item.references, item.summary)[f"rouge{variant}"], MEASURES[measure]
        )
    each = [scorer.score(reference, item.summary)[f"rouge{variant}"] for reference in item.references]
    return sum(getattr(one, MEASURES[measure]) for one in each) / len(each)


@pytest.fixture(scope="module")
def summeval(shared):
    """Return items of 5 SummEval articles by 16 systems, with 11 references, one sentence per line."""
    with gzip.open(shared / "data/summeval/expert_means.16systems.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line, _ in zip(file, range(5), strict=False)]
    return [
        Item(
            f"{row['id']}/{system}",
            each["sys_summ"].replace(" . ", " .\n"),
            article=row["src"].replace(" . ", " .\n"),
            references=tuple(text.replace(" . ", " .\n") for text in row["ref_summs"]),
        )
        for row in rows
        for system, each in row["sys_summs"].items()
    ]


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
class TestEqualsRougeScoreOnSummEval:
    @pytest.mark.parametrize("several", with_further(["mean"], ["max", "mean"]))
    def test_scores_against_references(self, summeval, variant, stem, several):
        ours = rouge(variant=variant, stem=stem, references=several).score(summeval[::8])
        for item, scored in zip(summeval[::8], ours, strict=True):
            assert scored.values[GENERAL] == pytest.approx(
                expected(item, variant, several=several, stem=stem), abs=1e-9
            )

    def test_scores_against_the_article(self, summeval, variant, stem):
        scorer = RougeScorer([f"rouge{variant}"], use_stemmer=stem)
        items = summeval[::16]
        for measure, attribute in MEASURES.items():
            ours = rouge(variant=variant, stem=stem, against="article", measure=measure).score(items)
            for item, scored in zip(items, ours, strict=True):
                theirs = scorer.score(item.article, item.summary)[f"rouge{variant}"]
                assert scored.values[GENERAL] == pytest.approx(getattr(theirs, attribute), abs=1e-9)


wordlike = st.text(st.sampled_from("abAB12İKß.'-é\n "), max_size=30)
sentences = st.lists(
    st.sampled_from(
        ["the", "a", "cat", "cats", "sitting", "running", "runner", "generalization", "2020", "died", "skies"]
    ),
    max_size=12,
).map(" ".join)
paragraphs = st.lists(sentences, max_size=4).map("\n".join)


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
@given(
    summary=st.one_of(paragraphs, wordlike),
    references=st.lists(st.one_of(paragraphs, wordlike), min_size=1, max_size=4),
    measure=st.sampled_from(list(MEASURES)),
    several=st.sampled_from(["max", "mean"]),
)
def test_equals_rouge_score_on_made_up_texts(variant, stem, summary, references, measure, several):
    item = Item("1", summary, references=tuple(references))
    [scored] = rouge(variant=variant, stem=stem, measure=measure, references=several).score([item])
    if scored.reasons:
        texts = [summary, *(each for each in references if each.strip())]
        assert len(texts) == 1 or any(not tokenize(each, None) or not each.isascii() for each in texts)
    else:
        present = Item("1", summary, references=tuple(each for each in references if each.strip()))
        theirs = expected(present, variant, measure, several, stem)
        assert scored.values[GENERAL] == pytest.approx(theirs, abs=1e-9)


@given(st.text(st.characters(), max_size=60))
def test_words_equal_those_of_rouge_score(text):
    words = tokenize(text, None)
    [scored] = rouge(variant="L").score([Item("1", text, references=(" ".join(words),))])
    if scored.reasons:
        assert not text.strip() or not words or all(word.isdigit() for word in words)
    else:
        assert scored.values[GENERAL] == 1.0


class TestByHand:
    ITEM = Item("1", "the cat sat", references=("the cat sat on the mat",))

    def test_small_case_equals_the_values_computed_by_hand(self, subtests):
        cases = [
            ("1", "precision", 3 / 3),
            ("1", "recall", 3 / 6),
            ("1", "f1", 2 / 3),
            ("2", "precision", 2 / 2),
            ("2", "recall", 2 / 5),
            ("L", "recall", 3 / 6),
        ]
        for variant, measure, by_hand in cases:
            with subtests.test(variant=variant, measure=measure, by_hand=by_hand):
                assert value(self.ITEM, variant=variant, measure=measure) == pytest.approx(by_hand, abs=1e-12)

    def test_repeated_word_counts_as_often_as_in_both_texts(self):
        item = Item("1", "the the the", references=("the cat the",))
        assert value(item, variant="1", measure="precision") == pytest.approx(2 / 3)

    def test_lsum_joins_subsequences_of_several_sentences(self):
        # Lin 2004, section 3.2, whose union is w1 w2 w3 w5: 4 / 5.
        item = Item("1", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", references=("w1 w2 w3 w4 w5",))
        assert value(item, variant="Lsum", measure="recall") == pytest.approx(4 / 5)

    def test_max_reports_precision_of_the_reference_with_the_highest_f1(self):
        item = Item("1", "a b c", references=("a", "a b c d e f"))
        assert value(item, variant="1", measure="recall", references="max") == pytest.approx(3 / 6)

    def test_single_word_has_no_bigram(self):
        assert value(Item("1", "cat", references=("cat",)), variant="2") == 0.0


class TestSentences:
    def test_period_splits_tokenised_text(self):
        dotted = Item("1", "w3 w4 w5 . w1 w2", references=("w1 w2 w3 w4 w5",))
        assert value(dotted, variant="Lsum", sentences="period") == 1.0
        assert value(dotted, variant="Lsum", sentences="newline") == pytest.approx(3 / 5)

    def test_given_sentences_replace_the_splitter(self):
        given = Item(
            "1",
            "w3 w4 w5 w1 w2",
            references=("w1 w2 w3 w4 w5",),
            summary_sentences=("w3 w4 w5", "w1 w2"),
            reference_sentences=("w1 w2", "w3 w4 w5"),
        )
        assert value(given, variant="Lsum") == 1.0
        assert value(replace(given, summary_sentences=None), variant="Lsum") == 1.0
        assert value(replace(given, summary_sentences=None, reference_sentences=None), variant="Lsum") < 1.0

    def test_given_reference_sentences_are_those_of_the_first_reference(self):
        given = Item("1", "b c\na", references=("a b c", "b c a"), reference_sentences=("a", "b c"))
        lined = Item("1", "b c\na", references=("a\nb c", "b c a"))
        assert value(given, variant="Lsum", references="mean") == value(
            lined, variant="Lsum", references="mean"
        )

    def test_given_article_sentences_are_used_against_the_article(self):
        given = Item("1", "b c\na", article="a b c", article_sentences=("a", "b c"))
        assert value(given, variant="Lsum", against="article") == 1.0


class TestScripts:
    RUSSIAN = Item("1", "Кошка сидела.", references=("Кошка СИДЕЛА на ковре.",), article="Кошка.")

    def test_text_without_words_is_not_scored_and_the_reason_suggests_a_setting(self):
        assert (
            reason(self.RUSSIAN)
            == "the summary has no words under tokens=rouge_score; tokens=unicode keeps them"
        )

    def test_digits_in_a_text_of_another_script_are_not_scored(self):
        assert "the summary has no words" in reason(Item("1", "Кошка 2020", references=("in 2020",)))

    def test_numbers_are_words(self):
        assert value(Item("1", "2020 – 2021", references=("2020 – 2021",))) == 1.0

    def test_reason_names_the_reference(self):
        assert "the reference has no words" in reason(Item("1", "A cat", references=("A cat", "Кошка")))

    def test_reason_names_the_article(self):
        assert "the article has no words" in reason(Item("1", "A cat", article="Кошка"), against="article")

    def test_unicode_words_work_in_every_script(self):
        assert value(self.RUSSIAN, tokens="unicode", measure="recall") == pytest.approx(2 / 4)

    def test_text_of_punctuation_has_no_words(self):
        assert reason(Item("1", "...", references=("x",)), tokens="unicode") == (
            "the summary has no words under tokens=unicode"
        )

    def test_porter_stemming_is_refused_for_other_scripts(self):
        with pytest.raises(ValueError, match="parameter 'stem'"):
            rouge(tokens="unicode", stem="yes")


class TestMissing:
    @pytest.mark.parametrize("references", [(), ("",), (" \n", "")])
    def test_no_reference_gives_a_reason(self, references):
        assert reason(Item("1", "A cat.", references=references, article="A cat.")) == "no reference"

    @pytest.mark.parametrize("article", [None, "", " "])
    def test_no_article_gives_a_reason(self, article):
        item = Item("1", "A cat.", references=("A cat.",), article=article)
        assert reason(item, against="article") == "no article"

    @pytest.mark.parametrize("summary", ["", " \n"])
    def test_empty_summary_gives_a_reason(self, summary):
        assert reason(Item("1", summary, references=("A cat.",))) == "empty summary"

    def test_blank_references_are_ignored(self):
        with_blank = Item("1", "a cat", references=("", "a dog", " "))
        assert value(with_blank, references="mean") == value(Item("1", "a cat", references=("a dog",)))

    def test_texts_without_common_words_score_0(self):
        assert value(Item("1", "a cat", references=("the dog",))) == 0.0
