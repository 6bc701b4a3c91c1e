"""Question answering on tiny models, one of which gives known answers."""

import math
import shutil
from pathlib import Path

import pytest
import torch
import transformers

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.neural.answer_search import NONE, best_span, find_answers
from scoring.neural.extractive_qa import ExtractiveReader
from scoring.neural.loading import load_tokenizer
from scoring.neural.question_generation import QuestionWriter
from tests.scoring.tiny_models import tiny_model

ANSWERS = ("cat", "mat")
"""The words that the model below answers to every question; in a text without them it finds no answer."""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    shutil.copytree(tiny_model("bert", "ForQuestionAnswering"), folder, dirs_exist_ok=True)
    tokenizer = load_tokenizer(folder)
    made = transformers.BertForQuestionAnswering.from_pretrained(folder)
    state = made.state_dict()
    for name, each in state.items():
        if "embeddings." in name or ".output." in name:
            each.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
    words = state["bert.embeddings.word_embeddings.weight"]
    words[:, 0], words[:, 1] = 1, -1
    for kind, tokens in enumerate(
        (tokenizer.convert_tokens_to_ids(list(ANSWERS)), [tokenizer.cls_token_id]), 1
    ):
        words[tokens] = 0
        words[tokens, 2 * kind], words[tokens, 2 * kind + 1] = 1, -1
    state["qa_outputs.weight"].zero_()
    state["qa_outputs.weight"][:, 2], state["qa_outputs.weight"][:, 4] = 2, 1
    made.load_state_dict(state)
    made.save_pretrained(folder)
    return str(folder)


def qa(model, **settings):
    qa_class = load_evaluator("qa")
    return qa_class(read_params(qa_class, {"model": model, "question_model": "", **settings}))


def score(model, summary, article, questions=("Who?",), answers=("the cat",), **settings):
    [scored] = qa(model, **settings).score(
        [Item("a", summary, "en", article, questions=questions, answers=answers)]
    )
    return scored


@pytest.mark.parametrize(
    ("summary", "article", "value"),
    [
        ("It was a cat.", "She liked the cat, they said.", 1),
        ("It was a cat.", "She liked the mat, they said.", 0),
        ("It was a cat.", "She liked it, they said.", 0),
        ("It was a cat cat.", "She liked the cat, they said.", 1),
    ],
    ids=["same", "different", "none in the article", "first of two equal answers"],
)
def test_answers_from_article_and_summary_are_compared(model, summary, article, value):
    assert score(model, summary, article).values["general"] == value


def test_score_is_the_mean_over_questions(model):
    found = score(
        model,
        "It was a mat.",
        "She liked the cat.",
        questions=("Who?", "What?"),
        answers=("cat", "shares"),
        compare="expected",
    )
    assert found.values["general"] == 0.5
    assert found.explanations["general"].splitlines() == [
        "Who? - summary: mat; article: cat (expected: cat)",
        "What? - summary: mat; article: cat (expected: shares)",
    ]


def test_question_not_answered_by_the_summary_is_left_out(model):
    scored = score(model, "It was good.", "She liked the cat.")
    assert scored.reasons["general"] == "no question that is answered as expected from the summary"
    assert math.isnan(scored.values["general"])
    assert scored.explanations["general"] == "Who? - summary: (nothing); article: cat (expected: the cat)"
    assert score(model, "It was good.", "She liked the cat.", compare="expected").values["general"] == 1


def test_answer_is_always_given_with_no_answer_off(model):
    scored = score(model, "It was a cat.", "She liked it.", no_answer="no")
    assert "(nothing)" not in scored.explanations["general"]


def test_answer_is_found_anywhere_in_a_long_article(model):
    article = "They said it was so. " * 300 + "She liked the Cat! " + "They said it was so. " * 300
    scored = score(model, "It was a cat.", article)
    assert scored.values["general"] == 1
    assert "article: Cat " in scored.explanations["general"]


def test_questions_are_generated_for_names_and_numbers_of_the_summary(model):
    writer = str(tiny_model("t5"))
    settings = {"question_model": writer, "beams": 2, "longest_question": 8, "round_trip": "no"}
    item = Item("a", "It was the Cat. She paid 3.50.", "en", "She liked the cat.")
    evaluator = qa(model, **settings)
    assert evaluator._prompts(item) == [
        ("generate question: It was the <hl> Cat <hl>. She paid 3.50.", "Cat"),
        ("generate question: It was the Cat. She paid <hl> 3.50 <hl>.", "3.50"),
    ]
    assert qa(model, **settings, prompt="{answer} of {context}", most_questions=1)._prompts(item) == [
        ("Cat of It was the Cat. She paid 3.50.", "Cat")
    ]
    [scored] = evaluator.score([item])
    assert scored.values["general"] == 1
    prompts = [prompt for prompt, _ in evaluator._prompts(item)]
    for written in evaluator._writer.questions(prompts):
        assert written.question in scored.explanations["general"]


def test_generated_question_counts_if_the_summary_gives_the_expected_answer(model):
    settings = {"question_model": str(tiny_model("t5")), "beams": 1, "longest_question": 8}
    items = [
        Item("a", "It was the Cat.", "en", "She liked the cat."),
        Item("b", "He paid Ann, said the cat.", "en", "She liked the cat."),
    ]
    kept, dropped = qa(model, **settings).score(items)
    assert kept.values["general"] == 1
    assert dropped.reasons["general"] == "no question that is answered as expected from the summary"


def test_question_search_equals_transformers():
    folder = tiny_model("bart")
    prompts = [
        "generate question: The <hl> Cat <hl> sat.",
        "Officials said on <hl> Monday <hl>, the talks went on.",
    ]
    found = QuestionWriter(folder, "float32", beams=3, longest=12).questions(prompts)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    writer = transformers.BartForConditionalGeneration.from_pretrained(folder).eval()
    for prompt, written in zip(prompts, found, strict=True):
        ids = writer.generate(
            **tokenizer(prompt, return_tensors="pt"),
            num_beams=3,
            do_sample=False,
            max_new_tokens=12,
            max_length=None,
        )
        assert written.question == tokenizer.decode(ids[0], skip_special_tokens=True).strip()
        assert written.share_read == 1
    [long] = QuestionWriter(folder, "float32", beams=1, longest=4).questions(["the cat sat " * 400])
    assert 0 < long.share_read < 1


@pytest.mark.parametrize("longest", [1, 3, 30])
def test_best_span_has_the_highest_sum(longest):
    generator = torch.Generator().manual_seed(7)
    for length in (1, 2, 9):
        logits = torch.randn(2, length, generator=generator)
        best = best_span(logits, longest)
        spans = {
            (first, last): (logits[0, first] + logits[1, last]).item()
            for first in range(length)
            for last in range(first, min(length, first + longest))
        }
        assert (best.first, best.last) == max(spans, key=spans.get)
        assert best.score == max(spans.values())


def test_windows_cover_every_word(model):
    reader = ExtractiveReader(Path(model))
    for place in range(0, 60, 7):
        text = " ".join(["so"] * place + ["Cat"] + ["so"] * (60 - place))
        for stride in (1, 10, 100):
            rule = {"window": 32, "stride": stride}
            assert find_answers(reader, [("Who?", text)], may_be_none=True, **rule) == ["Cat"]
    rule = {"window": 32, "stride": 10}
    assert find_answers(reader, [("Who?", "so " * 60)], may_be_none=True, **rule) == [NONE]
    assert find_answers(reader, [("Who?", "")], may_be_none=False, **rule) == [NONE]


def test_unscored_items_have_reasons(model):
    writer = str(tiny_model("t5"))
    cases = [
        (Item("a", " ", "en", "A cat."), {}, "empty summary"),
        (Item("b", "A cat.", "en", " "), {}, "no article"),
        (Item("c", "A cat.", "en", "A cat."), {}, "no question given, and no question_model to write one"),
        (
            Item("d", "A cat.", "en", "A cat."),
            {"question_model": writer},
            "no question: no name and no number in the summary",
        ),
    ]
    for item, settings, reason in cases:
        [scored] = qa(model, **settings).score([item])
        assert scored.reasons == {"general": reason}
