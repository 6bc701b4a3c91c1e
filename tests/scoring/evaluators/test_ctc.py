"""CTC on tiny models."""

import math

import pytest

from scoring.contract.fingerprints import fingerprint
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.weights.model_files import MissingWeights
from tests.scoring.ctc_model import ctc_model
from tests.scoring.tiny_models import tiny_model

ARTICLE = "The cat sat on the mat. It was a good mat, and the cat liked it."
REFERENCES = ("The cat liked the mat.", "It was good.")


def ctc(**settings):
    evaluator_class = load_evaluator("ctc")
    given = {"model": str(ctc_model()), "relevance_model": str(ctc_model(seed=1)), "layer": 2, **settings}
    return evaluator_class(read_params(evaluator_class, given))


def scored(summary, article=ARTICLE, references=REFERENCES, **settings):
    [result] = ctc(**settings).score([Item("a", summary, article=article, references=references)])
    return result


@pytest.mark.parametrize("aligner", ["D", "E", "R"])
class TestEveryAligner:
    def test_relevance_is_consistency_times_the_average_over_the_references(self, aligner):
        both = scored("The cat sat.", aligner=aligner).values
        single = [scored("The cat sat.", references=(each,), aligner=aligner).values for each in REFERENCES]
        assert both["consistency"] == pytest.approx(single[0]["consistency"], abs=1e-5)
        assert both["relevance"] == pytest.approx(sum(each["relevance"] for each in single) / 2, abs=1e-5)

    def test_consistency_needs_no_reference(self, aligner):
        result = scored("The cat sat.", references=(" ",), aligner=aligner)
        assert math.isfinite(result.values["consistency"])
        assert result.reasons == {"relevance": "no reference"}

    def test_blank_references_are_left_out(self, aligner):
        padded = scored("The cat sat.", references=("", *REFERENCES, " \n"), aligner=aligner)
        assert dict(padded.values) == pytest.approx(dict(scored("The cat sat.", aligner=aligner).values))

    def test_an_empty_summary_and_a_missing_article_have_no_score(self, aligner):
        assert set(scored(" ", aligner=aligner).reasons.values()) == {"empty summary"}
        assert set(scored("The cat.", article="", aligner=aligner).reasons.values()) == {"no article"}

    def test_cut_of_a_long_article_is_reported(self, aligner):
        result = scored("The cat sat.", article=ARTICLE * 60, aligner=aligner)
        assert 0 < result.shares_read["article"] < 1
        assert "summary" not in result.shares_read


@pytest.mark.parametrize("aligner", ["D", "E", "R"])
def test_a_model_with_fewer_positions_reads_less(aligner):
    small = str(ctc_model(max_position_embeddings=66))
    settings = {"aligner": aligner, "model": small, "relevance_model": small}
    result = scored("The cat sat.", article=ARTICLE * 10, **settings)
    assert not result.reasons
    assert result.shares_read["article"] < scored(
        "The cat sat.", article=ARTICLE * 10, aligner=aligner
    ).shares_read.get("article", 1)


def test_embeddings_find_every_word_in_an_identical_text():
    result = scored(ARTICLE, references=(ARTICLE,), aligner="E")
    assert dict(result.values) == pytest.approx({"consistency": 1, "relevance": 1}, abs=1e-5)


def test_text_without_any_token_has_no_score():
    settings = {"aligner": "E", "model": str(ctc_model("bert"))}
    reason = "a text without any token"
    for cleaned_away in ({"summary": "\ufffd"}, {"summary": "The cat.", "article": "\ufffd"}):
        assert set(scored(**cleaned_away, **settings).reasons.values()) == {reason}
    result = scored("The cat.", references=("\ufffd",), **settings)
    assert result.reasons == {"relevance": f"reference: {reason}"}


@pytest.mark.parametrize("aligner", ["D", "R"])
def test_without_a_relevance_model_only_consistency_is_scored(aligner):
    evaluator = ctc(aligner=aligner, relevance_model="")
    [result] = evaluator.score([Item("a", "The cat sat.", article=ARTICLE)])
    assert evaluator.dimensions == tuple(result.values) == ("consistency",)
    assert not result.reasons


@pytest.mark.parametrize("aligner", ["D", "E"])
def test_texts_of_stop_words_alone_have_no_score(aligner):
    settings = {"aligner": aligner, "stop_list": "english"}
    assert scored("the the", **settings).reasons == {
        "consistency": "stop words only",
        "relevance": "stop words only",
    }
    result = scored("The cat sat.", references=("the",), **settings)
    assert result.reasons == {"relevance": "reference: stop words only"}
    assert not scored("the the", aligner=aligner).reasons


def test_regression_ignores_stop_words():
    values = [scored("It was the", aligner="R", stop_list=left).values for left in ("english", "none")]
    assert values[0] == values[1]


def test_classifier_reports_words_that_disagree_with_pieces():
    reason = "words and word pieces do not agree, as after a line break"
    result = scored("The cat sat.\nIt was good.", aligner="D")
    assert result.reasons == {"consistency": reason, "relevance": reason}
    result = scored("The cat sat.", references=("The cat.\nIt sat.",), aligner="D")
    assert result.reasons == {"relevance": f"reference: {reason}"}
    assert not scored("The cat sat.", article="The cat sat.\nIt was good.", aligner="D").reasons


def test_classifier_reads_only_the_beginning_of_a_long_summary():
    result = scored("cat " * 2000, aligner="D")
    assert 0 < result.shares_read["summary"] < 0.5
    longer = scored("cat " * 2000 + "mat " * 50, aligner="D")
    assert dict(result.values) == pytest.approx(dict(longer.values), abs=1e-5)


def test_classifier_ignores_case_quote_style_and_spaces():
    one = scored("“The cat” sat .", aligner="D").values
    other = scored('  "the CAT"  sat.', aligner="D").values
    assert dict(one) == pytest.approx(dict(other), abs=1e-6)


def test_linear_layer_is_part_of_the_fingerprint():
    assert fingerprint(ctc(model=str(ctc_model(seed=2)))) != fingerprint(ctc())


def test_folder_without_the_linear_layer_is_refused():
    with pytest.raises(MissingWeights, match=r"classifier\.safetensors cannot be read"):
        scored("The cat sat.", model=str(tiny_model("roberta")))


def test_classifier_refuses_a_tokenizer_without_word_marks():
    with pytest.raises(MissingWeights, match="does not mark where words begin"):
        scored("The cat sat.", model=str(ctc_model("bert")))


def test_linear_layer_of_another_model_is_refused(tmp_path):
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(ctc_model(), folder)
    shutil.copy(folder / "dense.safetensors", folder / "classifier.safetensors")
    with pytest.raises(MissingWeights, match="does not fit the model beside it"):
        scored("The cat sat.", model=str(folder))
