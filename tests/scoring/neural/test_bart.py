"""Our forward pass over BART's weights, compared with the library's."""

import random

import pytest
import torch
import transformers

from scoring.neural.bart import Bart
from scoring.weights.model_files import MissingWeights
from tests.scoring.further_cases import with_further
from tests.scoring.tiny_models import tiny_model

SHAPES = {
    "plain": {},
    "relu, scaled embeddings": {"activation_function": "relu", "scale_embedding": True},
    "different halves": {
        "encoder_layers": 1,
        "decoder_layers": 3,
        "encoder_attention_heads": 4,
        "decoder_ffn_dim": 20,
    },
    "separate output matrix": {"tie_word_embeddings": False},
    "more words than one block": {"vocab_size": 2600},
    "another first token": {"decoder_start_token_id": 0, "activation_function": "gelu_new"},
}


def library(folder):
    return transformers.BartForConditionalGeneration.from_pretrained(folder).eval()


@torch.no_grad()
def alone(model, source, target):
    """Return the library's log-probabilities [tokens, vocabulary] of one pair."""
    logits = model(input_ids=torch.tensor([source]), labels=torch.tensor([target])).logits
    return logits[0].log_softmax(dim=-1)


def some_texts(seed, count, longest, words=400):
    """Return sequences of ids, many of which share a beginning."""
    chance = random.Random(seed)
    texts = [tuple(chance.randrange(words) for _ in range(chance.randint(2, longest))) for _ in range(count)]
    return [*texts, *((*text[: len(text) // 2], 5, 2) for text in texts), texts[0]]


@pytest.mark.parametrize("shape", with_further(["different halves", "separate output matrix"], SHAPES))
def test_log_probabilities_equal_the_librarys(shape):
    folder = tiny_model("bart", init_std=0.1, **SHAPES[shape])
    bart, model = Bart(folder), library(folder)
    sources = some_texts(1, 3, 60)
    targets = [some_texts(number, 1 + number % 3, 25) for number in range(len(sources))]
    states = bart.encode(sources)
    found = iter(bart.log_probabilities(states, targets))
    for source, state, group in zip(sources, states, targets, strict=True):
        theirs = model.model.encoder(input_ids=torch.tensor([source])).last_hidden_state[0]
        torch.testing.assert_close(state, theirs, atol=1e-5, rtol=0)
        for target in group:
            each = alone(model, source, target)[range(len(target)), list(target)]
            torch.testing.assert_close(next(found), each, atol=1e-5, rtol=0)


def test_logits_equal_the_librarys_up_to_the_normaliser():
    folder = tiny_model("bart", vocab_size=1500)
    source, words = (0, 9, 8, 7, 2), range(1500)
    bart = Bart(folder)
    found = bart.log_probabilities(bart.encode([source]), [[(0, word) for word in words]])
    theirs = alone(library(folder), source, (0, 4))
    torch.testing.assert_close(torch.stack([each[1] for each in found]), theirs[1], atol=1e-5, rtol=0)


def test_output_bias_is_included(tmp_path):
    folder = tiny_model("bart")
    model = library(folder)
    model.final_logits_bias = torch.linspace(-3, 3, model.config.vocab_size)[None]
    model.save_pretrained(tmp_path)
    bart = Bart(tmp_path)
    [found] = bart.log_probabilities(bart.encode([(0, 9, 2)]), [[(0, 30, 2)]])
    theirs = alone(model, (0, 9, 2), (0, 30, 2))[range(3), [0, 30, 2]]
    torch.testing.assert_close(found, theirs, atol=1e-5, rtol=0)
    unbiased = alone(library(folder), (0, 9, 2), (0, 30, 2))[range(3), [0, 30, 2]]
    assert (found - unbiased).abs().max() > 0.1


def test_improbable_words_have_finite_probabilities(tmp_path):
    model = library(tiny_model("bart"))
    with torch.no_grad():
        model.model.shared.weight.mul_(400)
    model.save_pretrained(tmp_path)
    bart = Bart(tmp_path)
    [found] = bart.log_probabilities(bart.encode([(0, 9, 2)]), [[(0, 30, 2)]])
    theirs = alone(model, (0, 9, 2), (0, 30, 2))[range(3), [0, 30, 2]]
    assert theirs.min() < -200
    torch.testing.assert_close(found, theirs, atol=1e-3, rtol=1e-5)


@pytest.mark.parametrize("kind", ["t5", "bert"])
def test_other_kinds_of_models_are_refused(kind):
    with pytest.raises(MissingWeights, match="only bart can be read"):
        Bart(tiny_model(kind))
