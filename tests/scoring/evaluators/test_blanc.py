"""BLANC on a tiny BERT: which words are hidden, what is cut, and training on a copy of the model."""

import math
import shutil
from collections import Counter

import pytest
import torch
import transformers

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.neural.blanc_masks import Masks, cloze, fitted, parts
from scoring.neural.loading import load_tokenizer
from tests.scoring.tiny_models import tiny_model

SENTENCES = (
    "The cat sat on the mat.",
    "Officials said on Monday that the talks went on.",
    "The company's shares fell after the news.",
)
ARTICLE = " ".join(SENTENCES)
SUMMARY = "Officials said the talks went on."


def blanc(**settings):
    blanc_class = load_evaluator("blanc")
    model = settings.pop("model", tiny_model("bert", "ForMaskedLM"))
    return blanc_class(read_params(blanc_class, {"model": str(model), **settings}))


def score(summary=SUMMARY, article=ARTICLE, evaluator=None, **settings):
    [scored] = (evaluator or blanc(**settings)).score([Item("a", summary, "en", article)])
    return scored


@pytest.fixture
def tokenizer():
    return load_tokenizer(tiny_model("bert"))


def hidden_positions(tokenizer, pieces, gap=2, in_each=1, word=4, first=2, later=100):
    return Masks(tokenizer, gap, in_each, (word, first, later)).of(pieces)


def hidden(tokenizer, text, **rule):
    pieces = tokenizer(text, add_special_tokens=False)["input_ids"]
    names = tokenizer.convert_ids_to_tokens(pieces)
    return [[names[each] for each in positions] for positions in hidden_positions(tokenizer, pieces, **rule)]


def test_long_words_are_hidden_in_turn(tokenizer):
    assert hidden(tokenizer, "the cat liked that good mat and talks went") == [
        ["liked", "good", "went"],
        ["that", "talks"],
    ]


def test_shifts_without_hidden_words_are_left_out(tokenizer):
    assert hidden(tokenizer, "the cat good mat", gap=4) == [["good"]]
    assert hidden(tokenizer, "the cat sat") == []
    assert hidden(tokenizer, "good", gap=6) == [["good"]]


def test_neighbours_are_hidden_together_also_across_the_end_of_the_gap(tokenizer):
    found = hidden(tokenizer, "the cat that good", gap=4, in_each=2, word=1)
    assert found == [["the", "cat"], ["cat", "that"], ["that", "good"], ["the", "good"]]


def test_split_word_is_hidden_if_its_first_piece_is_long_enough(tokenizer):
    pieces = tokenizer.convert_ids_to_tokens(tokenizer("xylo cat", add_special_tokens=False)["input_ids"])
    assert pieces[1].startswith("##")
    first = len(pieces[0])
    assert hidden(tokenizer, "xylo cat", gap=1, first=first, word=3) == [[pieces[0], "cat"]]
    assert hidden(tokenizer, "xylo cat", gap=1, first=first + 1, word=3) == [["cat"]]
    assert hidden(tokenizer, "xylo cat", gap=1, first=100, word=100, later=1) == [
        [piece for piece in pieces if piece.startswith("##")]
    ]


def test_cloze_keeps_the_hidden_pieces_as_answers():
    made = cloze((1,), (10, 11, 12), (2,), (0, 2), 4)
    assert (made.ids, made.hidden, made.answers) == ((1, 4, 11, 4, 2), (1, 3), (10, 12))


@pytest.mark.parametrize(
    ("sentence", "summary", "expected"),
    [
        (6, [2, 2], ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3])),
        (8, [2, 2], ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3])),
        (8, [3, 3], ([0, 1, 2, 3, 4], [0, 1, 2])),
        (8, [7], ([0, 1, 2, 3, 4], [2, 3, 4, 5, 6])),
        (20, [], (list(range(10)), [])),
    ],
    ids=["fits", "sentence first", "then whole sentences", "then from the front", "no summary"],
)
def test_inputs_are_cut_to_the_limit(sentence, summary, expected):
    numbered = iter(range(100))
    cut, kept = fitted(range(sentence), [[next(numbered) for _ in range(each)] for each in summary], 10, 5)
    assert (list(cut), list(kept)) == expected


def test_beginning_of_a_summary_is_trained_as_often_as_the_rest():
    assert [list(part) for part in parts(range(10), 4, 2)] == [
        [0, 1, 2, 3],
        [2, 3, 4, 5],
        [0, 1],
        [4, 5, 6, 7],
        [6, 7, 8, 9],
        [8, 9],
    ]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Train a model to fill in words of SENTENCES when SUMMARY stands before them."""
    folder = tmp_path_factory.mktemp("reader")
    dropout = {"hidden_dropout_prob": 0.3}
    shutil.copytree(tiny_model("bert", "ForMaskedLM", **dropout), folder, dirs_exist_ok=True)
    tokenizer = load_tokenizer(folder)
    # In float64, results do not depend on the number of threads.
    model = transformers.BertForMaskedLM.from_pretrained(folder).double().eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    before = len(tokenizer(SUMMARY)["input_ids"]) - 1
    texts = [f"{SUMMARY} {sentence}" for sentence in SENTENCES for _ in (0, 1)]
    given = tokenizer(texts, padding=True, return_tensors="pt")
    ids, mask = given["input_ids"], given["attention_mask"]
    shown, asked = ids.clone(), torch.full_like(ids, -100)
    for row, length in enumerate(mask.sum(dim=1).tolist()):
        places = slice(before + row % 2, length - 1, 2)
        shown[row, places] = tokenizer.mask_token_id
        asked[row, places] = ids[row, places]
    for _ in range(100):
        optimizer.zero_grad()
        model(shown, attention_mask=mask, labels=asked).loss.backward()
        optimizer.step()
    model.float().save_pretrained(folder)
    return folder


def test_score_counts_the_words_that_the_model_guesses(reader):
    tokenizer = load_tokenizer(reader)
    model = transformers.BertForMaskedLM.from_pretrained(reader).eval()

    def ids_of(text):
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    summary, filler = ids_of(SUMMARY), tokenizer.convert_tokens_to_ids(".")
    outcomes = Counter()
    for sentence in SENTENCES:
        pieces = ids_of(sentence)
        for positions in hidden_positions(tokenizer, pieces):
            shown = list(pieces)
            for position in positions:
                shown[position] = tokenizer.mask_token_id
            right = []
            for before in ([filler] * len(summary), summary):
                ids = [tokenizer.cls_token_id, *before, *shown, tokenizer.sep_token_id]
                with torch.no_grad():
                    guesses = model(torch.tensor([ids])).logits[0].argmax(dim=-1).tolist()
                right.append([guesses[1 + len(before) + each] == pieces[each] for each in positions])
            outcomes.update(zip(*right, strict=True))
    gained, lost = outcomes[False, True], outcomes[True, False]
    assert gained > 0
    assert gained != lost
    scored = score(model=reader)
    assert scored.values["general"] == (gained - lost) / outcomes.total()
    assert scored.explanations["general"].startswith(
        f"of {outcomes.total()} hidden words: {gained} guessed only with the summary, {lost} only "
    )
    kept = score(model=reader, measure="improve").values["general"]
    assert kept == gained / (outcomes.total() - lost)


def test_trained_words_are_guessed():
    for measure in ("relative", "improve"):
        taught = {"form": "tune", "epochs": 30, "learning_rate": 1e-2, "measure": measure}
        scored = score("good good good good", "It was a good mat.", **taught)
        assert scored.values["general"] == 1
        assert scored.explanations["general"].startswith("of 1 hidden words: 1 guessed only with")


def test_training_a_copy_leaves_the_model_unchanged():
    evaluator = blanc(form="tune", learning_rate=1e-2)
    first = score(evaluator=evaluator)
    before = {name: each.clone() for name, each in evaluator._filler.model.state_dict().items()}
    state = torch.random.get_rng_state()
    with torch.no_grad():
        score("The report says shares fell after the news.", evaluator=evaluator)
        assert not torch.is_grad_enabled()
    after = evaluator._filler.model.state_dict()
    assert all(torch.equal(each, after[name]) for name, each in before.items())
    assert all(each.grad is None for each in evaluator._filler.model.parameters())
    assert not evaluator._filler.model.training
    assert torch.equal(torch.random.get_rng_state(), state)
    assert score(evaluator=evaluator) == first


def test_seed_decides_dropout(reader):
    settings = {"model": reader, "form": "tune", "learning_rate": 3e-3, "p_replace": 0, "p_keep": 0}

    def found(seed):
        return score("Talks fell on.", seed=seed, gap=1, shortest_word=1, **settings).explanations["general"]

    first = found(1)
    assert found(1) == first
    assert any(found(seed) != first for seed in range(2, 13))


def test_tuned_score_does_not_depend_on_other_summaries():
    items = [
        Item("a", SUMMARY, "en", ARTICLE),
        Item("b", "The report says shares fell.", "en", ARTICLE),
        Item("c", SUMMARY, "en", "The talks went on after the news."),
    ]
    settings = {"form": "tune", "learning_rate": 1e-2}
    together = blanc(**settings).score(items)
    assert together == [blanc(**settings).score([item])[0] for item in items]
    assert together[::-1] == blanc(**settings).score(items[::-1])


def test_given_sentences_replace_the_splitter(reader):
    texts = {"summary": SUMMARY, "language": "en", "article": ARTICLE}
    [split] = blanc(model=reader).score([Item("a", **texts)])
    [given] = blanc(model=reader).score([Item("a", **texts, article_sentences=SENTENCES)])
    [whole] = blanc(model=reader).score([Item("a", **texts, article_sentences=(ARTICLE,))])
    assert split == given
    assert split.explanations != whole.explanations


def test_long_sentence_is_cut_and_the_share_read_is_reported():
    long = "officials said " * 200
    scored = score(article=long, max_length=110)
    assert scored.shares_read == {"article": pytest.approx(98 / 400, abs=0.03)}
    assert "read: 2" in scored.explanations["general"]
    assert set(score(long, long, max_length=110).shares_read) == {"article", "summary"}
    assert set(score(article=long, form="tune", max_length=110).shares_read) == {"article"}


def test_unscored_items_have_reasons():
    cases = [(" ", ARTICLE), ("The cat.", " "), ("The cat.", "It is a cat.")]
    reasons = []
    for summary, article in cases:
        scored = score(summary, article)
        assert math.isnan(scored.values["general"])
        reasons.append(scored.reasons["general"])
    assert reasons == ["empty summary", "no article", "no word of the article can be hidden"]
