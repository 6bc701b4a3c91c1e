"""Encoding of sequences: each distinct one once, independent of its batch."""

import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.neural.encoder import Encoder
from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import LAYERS, POSITIONS, tiny_model


@pytest.fixture(scope="module", params=["bert", "roberta", "xlm-roberta"])
def encoder(request):
    return Encoder(tiny_model(request.param))


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
def test_limit_comes_from_the_tokenizer_or_the_positions(kind):
    assert Encoder(tiny_model(kind)).limit == POSITIONS
    short = Encoder(tiny_model(kind, max_position_embeddings=40))
    assert short.limit <= 40
    [whole] = short.tokens.whole(["The cat sat on the mat. " * 20], short.limit)
    assert len(whole) == short.limit
    assert short.states([whole.ids], [-1])[0].shape[1] == short.limit


@pytest.mark.parametrize(
    ("kind", "dead"), [("MPNet", 2), ("XLMRobertaXL", 2), ("DistilBert", 0), ("Electra", 0)]
)
def test_limit_of_other_models_comes_from_their_positions(tmp_path, kind, dead):
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model("bert"))
    tokenizer.model_max_length = 10**30
    tokenizer.save_pretrained(tmp_path)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
        pad_token_id=1 if dead else 0,
    )
    getattr(transformers, f"{kind}Model")(config).save_pretrained(tmp_path)
    encoder = Encoder(tmp_path)
    assert encoder.limit == 40 - dead
    [whole] = encoder.tokens.whole(["The cat sat on the mat. " * 20], encoder.limit)
    [states] = encoder.states([whole.ids], [-1])
    assert states.shape[1] == encoder.limit


SEQUENCES = st.lists(st.lists(st.integers(5, 60), min_size=1, max_size=12).map(tuple), min_size=1, max_size=8)


@given(SEQUENCES)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_batches_do_not_change_vectors(encoder, sequences):
    together = encoder.states(sequences, [1, -1])
    for sequence, found in zip(sequences, together, strict=True):
        [alone] = encoder.states([sequence], [1, -1])
        assert found.shape == alone.shape == (2, len(sequence), encoder.model.config.hidden_size)
        assert (found - alone).abs().max() < 1e-5


def test_each_distinct_sequence_is_computed_once(encoder, monkeypatch):
    computed = []
    compute = encoder._states

    def counting(sequences, *rest):
        computed.extend(sequences)
        return compute(sequences, *rest)

    monkeypatch.setattr(encoder, "_states", counting)
    one, two = (5, 6, 7), (8, 9)
    found = encoder.states([one, two, one, one], [-1])
    assert sorted(computed) == [one, two]
    assert torch.equal(found[0], found[2])


def test_out_of_memory_gives_none_and_leaves_others(encoder, monkeypatch):
    compute = encoder._states

    def small_memory(sequences, *rest):
        if sum(map(len, sequences)) > 8:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return compute(sequences, *rest)

    monkeypatch.setattr(encoder, "_states", small_memory)
    found = encoder.states([(5,) * 4, (6,) * 9, (7,) * 5, (8,) * 8], [-1])
    assert [each is None for each in found] == [False, True, False, False]
    assert found[3].shape[1] == 8


def test_layers_count_from_either_end(encoder):
    [found] = encoder.states([(5, 6, 7)], [0, LAYERS, -1])
    assert torch.equal(found[1], found[2])
    assert not torch.allclose(found[0], found[1], atol=1e-2)


@pytest.mark.parametrize("depth", [-1, LAYERS + 1])
def test_missing_layer_is_refused(depth):
    with pytest.raises(MissingWeights, match=f"has {LAYERS} layers, so there is no {depth}"):
        Encoder(tiny_model("bert"), depth=depth)
