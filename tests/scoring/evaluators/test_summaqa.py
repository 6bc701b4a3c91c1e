"""SummaQA on a tiny model: questions, measures and cuts."""

import math

import pytest
import torch
import transformers

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.neural.extractive_qa import ExtractiveReader
from scoring.neural.summaqa import read_reply, replies
from scoring.texts.answer_match import answer_f1
from tests.scoring.tiny_models import tiny_model

ARTICLE = "The talks went on in Monday's report. Officials paid 3.50 for Die Katze."
SUMMARY = "Officials said on Monday that the company's shares fell by 4 percent, and the talks went on."
BERT = tiny_model("bert", "ForQuestionAnswering")


def score(item, **settings):
    summaqa = load_evaluator("summaqa")
    [scored] = summaqa(read_params(summaqa, {"model": str(BERT), **settings})).score([item])
    return scored


def value(item, **settings):
    return score(item, **settings).values["general"]


def test_questions_come_from_the_article_and_answers_from_the_summary():
    scored = score(Item("a", SUMMARY, "en", ARTICLE))
    questions = [line.partition(" - ")[0] for line in scored.explanations["general"].splitlines()]
    assert questions == [
        "The talks went on in MASKED's report.",
        "Officials paid MASKED for Die Katze.",
        "Officials paid 3.50 for MASKED.",
    ]
    given = Item(
        "b",
        SUMMARY,
        questions=tuple(questions),
        answers=("Monday", "3.50", "Die Katze"),
    )
    assert score(given) == scored
    assert value(Item("a", SUMMARY, "en", ARTICLE), most_questions=2) == pytest.approx(
        value(Item("b", SUMMARY, questions=given.questions[:2], answers=given.answers[:2])), abs=1e-7
    )


def test_given_sentences_replace_the_splitter():
    whole = Item("a", SUMMARY, "en", ARTICLE, article_sentences=(ARTICLE,))
    assert "(expected: Officials)" in score(whole).explanations["general"]


def test_probability_is_the_product_of_begin_and_end_after_the_question():
    tokenizer = transformers.AutoTokenizer.from_pretrained(BERT)
    model = transformers.BertForQuestionAnswering.from_pretrained(BERT).eval()
    ids = tokenizer("Who is MASKED?", SUMMARY)["input_ids"]
    start = ids.index(tokenizer.sep_token_id) + 1
    with torch.no_grad():
        output = model(
            input_ids=torch.tensor([ids]), token_type_ids=torch.zeros(1, len(ids), dtype=torch.int)
        )
    begins, ends = (each[0].softmax(dim=0)[start:] for each in (output.start_logits, output.end_logits))
    item = Item("a", SUMMARY, questions=("Who is MASKED?",), answers=("Monday",))
    assert value(item) == pytest.approx((begins.max() * ends.max()).item(), abs=1e-6)
    first, last = int(begins.argmax()), int(ends.argmax())
    pieces = " ".join(tokenizer.convert_ids_to_tokens(ids[start:][first : last + 1]))
    [reply] = replies(ExtractiveReader(BERT, two_segments=False), [("Who is MASKED?", SUMMARY)])
    assert reply.from_pieces == pieces


@pytest.fixture(scope="module")
def reader():
    return ExtractiveReader(BERT)


def reply_to(reader, summary, first, last):
    """Return the reply of a model that is certain of these first and last pieces of the summary."""
    asked = reader.asked(reader.passage("Who is MASKED?").ids, reader.passage(summary).ids)
    logits = torch.zeros(2, len(asked.ids))
    logits[0, asked.start + first] = logits[1, asked.start + last] = 30
    reply = read_reply(reader, summary, asked, logits)
    assert reply.probability == pytest.approx(1, abs=1e-6)
    return reply


def test_answer_has_the_summarys_spelling_of_a_split_word(reader):
    last = sum(end <= len("Xylophones") for _, end in reader.passage("Xylophones fell").places) - 1
    reply = reply_to(reader, "Xylophones fell", 0, last)
    assert reply.from_summary == "Xylophones"
    assert answer_f1(reply.from_summary, "xylophones") == 1
    assert " ##" in reply.from_pieces
    assert answer_f1(reply.from_pieces, "xylophones") == 0


def test_end_before_the_begin_is_no_answer(reader):
    reply = reply_to(reader, "Xylophones fell", 1, 0)
    assert (reply.from_summary, reply.from_pieces) == ("", "")


def test_end_mark_is_not_part_of_the_answer(reader):
    length = len(reader.passage("The cat").ids)
    assert reply_to(reader, "The cat", length, length).from_summary == ""
    assert reply_to(reader, "The cat", length, length).from_pieces == "[SEP]"
    reply = reply_to(reader, "The cat", 0, length)
    assert (reply.from_summary, reply.from_pieces) == ("The cat", "the cat [SEP]")


def test_f1_compares_the_answer_with_the_expected_one(reader):
    question = "Officials paid MASKED."
    [reply] = replies(ExtractiveReader(BERT, two_segments=False), [(question, SUMMARY)])
    for expected in ("Monday", "the shares fell by 4 percent", reply.from_summary or "nothing"):
        item = Item("a", SUMMARY, questions=(question,), answers=(expected,))
        assert value(item, measure="f1") == pytest.approx(answer_f1(reply.from_summary, expected))
        pieces = value(item, measure="f1", answer_text="pieces")
        assert pieces == pytest.approx(answer_f1(reply.from_pieces, expected))


def test_long_inputs_are_cut_and_reported():
    long = "the cat sat on the mat " * 200
    scored = score(Item("a", long, questions=("Who is MASKED?",), answers=("cat",)))
    assert set(scored.shares_read) == {"summary"}
    assert "% of the summary" in scored.explanations["general"]
    scored = score(Item("a", "The cat.", questions=(long,), answers=("cat",)))
    assert set(scored.shares_read) == {"questions"}
    assert set(score(Item("a", long, questions=(long,), answers=("cat",))).shares_read) == {
        "questions",
        "summary",
    }


def test_scores_do_not_depend_on_other_summaries():
    items = [Item("a", SUMMARY, "en", ARTICLE), Item("b", "The cat sat.", "en", ARTICLE)]
    summaqa = load_evaluator("summaqa")
    together = summaqa(read_params(summaqa, {"model": str(BERT)})).score(items)
    for item, scored in zip(items, together, strict=True):
        assert scored.values["general"] == pytest.approx(value(item), abs=1e-6)


def test_unscored_items_have_reasons():
    no_question = "no question: none given, or no name and no number in the article"
    cases = [
        (Item("a", " ", "en", ARTICLE), "empty summary"),
        (Item("b", " ", questions=("MASKED?",), answers=("cat",)), "empty summary"),
        (Item("c", "The cat.", "en", " "), "no article"),
        (Item("d", "The cat.", "en", "Nobody came."), no_question),
        (Item("e", "The cat.", "en", ARTICLE, questions=(), answers=()), no_question),
        (Item("f", "猫。", "zh", "猫坐在垫子上。"), no_question),
    ]
    for item, reason in cases:
        scored = score(item)
        assert scored.reasons == {"general": reason}
        assert math.isnan(scored.values["general"])
