"""UniEval on tiny models."""

import json
import math
import shutil

import pytest

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import tiny_model

ARTICLE = "The cat sat on the mat. She paid 3.50 for it! The talks went on."
SENTENCES = ("The cat liked it.", "Officials said no.")
SUMMARY = " ".join(SENTENCES)
REFERENCES = ("A good mat.", " ", "The company's shares fell.")
ITEM = Item("a", SUMMARY, article=ARTICLE, references=REFERENCES)
ASKED = ("coherence", "consistency", "fluency", "relevance")


def unieval(**settings):
    evaluator_class = load_evaluator("unieval")
    return evaluator_class(read_params(evaluator_class, {"model": str(tiny_model("t5")), **settings}))


def scored(item, **settings):
    [result] = unieval(**settings).score([item])
    return result


def answer(text, folder=None):
    """Return the library's probability of Yes against No for an input with ` </s> ` in it.

    The parts around `</s>` are tokenised separately, as by the T5 tokenizer of the authors' version.
    """
    import torch
    import transformers

    folder = folder or tiny_model("t5")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    ids = [id_ for part in text.split("</s>") for id_ in tokenizer(part.strip())["input_ids"]]
    yes, no = (tokenizer(word)["input_ids"][0] for word in ("Yes", "No"))
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    return torch.sigmoid(logits[yes] - logits[no]).item()


def coherence(summary, article):
    question = "question: Is this a coherent summary to the document?"
    return answer(f"{question} </s> summary: {summary} </s> document: {article}")


def test_each_dimension_has_its_own_question():
    claims = [
        answer(
            "question: Is this claim consistent with the document? </s> "
            f"claim: {sentence} </s> document: {ARTICLE}"
        )
        for sentence in SENTENCES
    ]
    paragraphs = [
        answer(f"question: Is this a fluent paragraph? </s> paragraph: {sentence}") for sentence in SENTENCES
    ]
    expected = {
        "coherence": coherence(SUMMARY, ARTICLE),
        "consistency": sum(claims) / 2,
        "fluency": sum(paragraphs) / 2,
        "relevance": answer(
            "question: Is this summary relevant to the reference? </s> "
            f"summary: {SUMMARY} </s> reference: {REFERENCES[0]}"
        ),
    }
    expected["overall"] = sum(expected.values()) / 4
    assert dict(scored(ITEM).values) == pytest.approx(expected, abs=1e-6)
    assert len({round(value, 6) for value in expected.values()}) == 5


def test_no_separate_space_token_is_added_at_the_end_of_a_part():
    import transformers

    from scoring.neural.unieval import YesOrNo

    folder = tiny_model("t5")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    lone_space = tokenizer.convert_tokens_to_ids("▁")
    in_one_piece = tokenizer("A good mat. </s> summary: The cat.")["input_ids"]
    before_end = in_one_piece.index(tokenizer.eos_token_id) - 1
    assert in_one_piece[before_end] == lone_space
    joined = YesOrNo(folder, "float32", 512).whole("A good mat.", [("summary:", "The cat. ")]).ids
    assert list(joined) == in_one_piece[:before_end] + in_one_piece[before_end + 1 :]


def test_several_references_give_their_first_best_or_mean_score():
    one, other = (
        scored(Item("a", SUMMARY, references=(text,)), dimensions="relevance").values["relevance"]
        for text in (REFERENCES[0], REFERENCES[2])
    )
    assert one != pytest.approx(other)
    for rule, expected in (("first", one), ("max", max(one, other)), ("mean", (one + other) / 2)):
        values = scored(ITEM, references=rule).values
        assert values["relevance"] == pytest.approx(expected, abs=1e-6)


def test_missing_text_affects_only_dimensions_that_need_it():
    full = scored(ITEM)
    without_reference = scored(Item("a", SUMMARY, article=ARTICLE, references=(" ",)))
    assert dict(without_reference.reasons) == {"relevance": "no reference", "overall": "no reference"}
    for dimension in ("coherence", "consistency", "fluency"):
        assert without_reference.values[dimension] == pytest.approx(full.values[dimension], abs=1e-6)

    without_article = scored(Item("a", SUMMARY, article=" ", references=REFERENCES))
    assert set(without_article.reasons) == {"coherence", "consistency", "overall"}
    assert set(without_article.reasons.values()) == {"no article"}

    alone = scored(Item("a", SUMMARY))
    assert alone.reasons["overall"] == "no article, no reference"
    assert alone.values["fluency"] == pytest.approx(full.values["fluency"], abs=1e-6)


def test_empty_summary_has_no_score_and_does_not_affect_others():
    empty, full = unieval().score([Item("b", " \n", article=ARTICLE, references=REFERENCES), ITEM])
    assert set(empty.reasons.values()) == {"empty summary"}
    assert all(map(math.isnan, empty.values.values()))
    assert not full.reasons


def test_only_chosen_dimensions_are_scored_averaged_and_needed():
    evaluator = unieval(dimensions="fluency,coherence")
    assert evaluator.dimensions == ("fluency", "coherence", "overall")
    assert {need.value for need in evaluator.needs_for(evaluator.params)} == {"article"}
    [result] = evaluator.score([Item("a", SUMMARY, article=ARTICLE)])
    full = scored(ITEM).values
    assert result.values["overall"] == pytest.approx((full["fluency"] + full["coherence"]) / 2, abs=1e-6)


@pytest.mark.parametrize("given", ["fluency,beauty", ","])
def test_unknown_dimensions_are_refused(given):
    with pytest.raises(ValueError, match=r"expected some of coherence, consistency, fluency, relevance"):
        unieval(dimensions=given)


def test_given_sentences_of_the_summary_replace_the_splitter():
    as_one = Item("a", SUMMARY, article=ARTICLE, summary_sentences=(SUMMARY, " "))
    expected = answer(f"question: Is this a fluent paragraph? </s> paragraph: {SUMMARY}")
    assert scored(as_one).values["fluency"] == pytest.approx(expected, abs=1e-6)
    assert scored(ITEM).values["fluency"] != pytest.approx(expected, abs=1e-4)


def test_long_article_is_cut_at_its_end_and_reported():
    long, longer = (Item("a", SUMMARY, article=ARTICLE + " The cat sat." * count) for count in (300, 900))
    settings = {"max_length": 128, "dimensions": "coherence"}
    assert scored(long, **settings).values == pytest.approx(scored(longer, **settings).values, abs=1e-6)
    assert 0 < scored(longer, **settings).shares_read["article"] < 0.1
    assert scored(long, **settings).shares_read["article"] > scored(longer, **settings).shares_read["article"]
    assert not scored(long, max_length=8192, dimensions="coherence").shares_read


def test_summary_that_leaves_no_room_for_the_article_is_reported():
    item = Item("a", "The cat sat. " * 200, article=ARTICLE)
    result = scored(item, max_length=128, dimensions="coherence")
    assert result.shares_read["article"] == 0
    assert 0 < result.shares_read["summary"] < 1
    assert math.isfinite(result.values["coherence"])


def test_parts_include_the_end_of_a_long_article():
    beginning = "Officials said on Monday. " * 100
    one = Item("a", SUMMARY, article=beginning + "The cat sat. " * 100)
    other = Item("b", SUMMARY, article=beginning + "Really? " * 100)
    settings = {"max_length": 256, "dimensions": "coherence,consistency"}
    assert scored(one, **settings).values == pytest.approx(scored(other, **settings).values, abs=1e-6)
    by_rule = {rule: scored(one, long_article=rule, **settings) for rule in ("parts_max", "parts_mean")}
    for rule, result in by_rule.items():
        assert not result.shares_read
        ending = scored(other, long_article=rule, **settings).values
        assert abs(result.values["overall"] - ending["overall"]) > 1e-5
    assert by_rule["parts_max"].values["overall"] > by_rule["parts_mean"].values["overall"]


def test_long_summary_gets_half_of_an_input_in_parts():
    item = Item("a", "The cat sat. " * 200, article=ARTICLE * 10)
    settings = {"max_length": 128, "dimensions": "coherence", "long_article": "parts_mean"}
    result = scored(item, **settings)
    assert list(result.shares_read) == ["summary"]
    beginning = Item("a", "The cat sat. " * 150, article=ARTICLE * 10)
    assert result.values == pytest.approx(scored(beginning, **settings).values, abs=1e-6)


def test_fitting_article_scores_the_same_in_parts():
    assert scored(ITEM, long_article="parts_mean").values == pytest.approx(scored(ITEM).values, abs=1e-7)


def test_tokenizer_with_the_same_first_token_for_yes_and_no_is_refused(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model("t5"), folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = [
        ["*" if piece in ("▁Yes", "▁No") else piece, score] for piece, score in vocabulary
    ]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(MissingWeights, match="begins Yes and No with the same token"):
        scored(ITEM, model=str(folder))
