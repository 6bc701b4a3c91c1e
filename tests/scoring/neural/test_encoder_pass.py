"""Vectors of our encoder compared with the library's forward pass."""

import random

import pytest
import torch
import transformers

from scoring.neural.encoder import Encoder
from scoring.neural.encoder_pass import EncoderPass
from tests.scoring.tiny_models import TEXT, tiny_model

LAYERS = [0, 1, 3, -1]


def sequences_for(encoder, number=12):
    """Return sequences of equal and unequal lengths, one with the padding id inside."""
    chooser = random.Random(1)
    words = TEXT.split()
    texts = [" ".join(chooser.choices(words, k=chooser.choice((1, 4, 4, 9, 30)))) for _ in range(number)]
    found = [each.ids for each in encoder.tokens.whole(texts, 64)]
    return [*found, (*found[0][:-1], encoder.tokens.padding, *found[1][1:])]


SMALL_SPREAD = 0.1
"""Spread of weights at which float32 keeps all compared digits."""


def library_states(folder, sequences):
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        for ids in sequences:
            given = torch.tensor([ids])
            mask = torch.ones_like(given)
            states = model(input_ids=given, attention_mask=mask, output_hidden_states=True).hidden_states
            yield torch.stack([states[layer][0] for layer in LAYERS])


def assert_equal_to_the_library(folder):
    encoder = Encoder(folder)
    sequences = sequences_for(encoder)
    found = encoder.states(sequences, LAYERS)
    for ours, theirs in zip(found, library_states(folder, sequences), strict=True):
        assert ours.shape == theirs.shape
        assert (ours - theirs).abs().max() < 1e-5
    assert found[0].std() > 0.1, "equal vectors would prove nothing"


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
def test_vectors_equal_the_librarys(kind):
    assert_equal_to_the_library(tiny_model(kind, initializer_range=SMALL_SPREAD))


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_act": "relu"},
        {"hidden_act": "gelu_new"},
        {"layer_norm_eps": 0.1},
        {"num_attention_heads": 4, "intermediate_size": 40},
        {"type_vocab_size": 3},
    ],
    ids=str,
)
def test_configuration_is_respected(changes):
    assert_equal_to_the_library(tiny_model("bert", initializer_range=SMALL_SPREAD, **changes))


def test_other_encoders_run_in_the_library(tmp_path):
    transformers.AutoTokenizer.from_pretrained(tiny_model("bert")).save_pretrained(tmp_path)
    config = transformers.DistilBertConfig(
        vocab_size=400, dim=32, hidden_dim=48, n_layers=3, n_heads=2, initializer_range=0.3
    )
    transformers.DistilBertModel(config).save_pretrained(tmp_path)
    assert_equal_to_the_library(tmp_path)


def test_layers_above_the_depth_are_not_needed():
    folder = tiny_model("roberta")
    whole, short = Encoder(folder), Encoder(folder, depth=1)
    sequences = sequences_for(whole)
    for one, two in zip(whole.states(sequences, [0, 1]), short.states(sequences, [0, 1]), strict=True):
        assert (one - two).abs().max() < 1e-5


def test_layers_are_combined_token_by_token():
    encoder = Encoder(tiny_model("bert"))
    sequences = sequences_for(encoder)
    plain = encoder.states(sequences, [1, 2])
    summed = encoder.states(sequences, [1, 2], lambda states: states.sum(dim=1, keepdim=True))
    for one, two in zip(plain, summed, strict=True):
        assert (one.sum(dim=0, keepdim=True) - two).abs().max() < 1e-5


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_places_of_the_last_layer_equal_the_librarys(kind):
    folder = tiny_model(kind, initializer_range=SMALL_SPREAD)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    sequences = sequences_for(Encoder(folder))
    places = [(0, len(ids) - 1) if number % 2 else (len(ids) // 2,) for number, ids in enumerate(sequences)]
    types = [[int(kind == "bert" and place > 2) for place in range(len(ids))] for ids in sequences]
    with torch.inference_mode():
        found = EncoderPass(model).last_states(sequences, places, types).split(list(map(len, places)))
        for ids, some, kinds, vectors in zip(sequences, places, types, found, strict=True):
            told = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([kinds]))
            assert (told.last_hidden_state[0, list(some)] - vectors).abs().max() < 1e-5
