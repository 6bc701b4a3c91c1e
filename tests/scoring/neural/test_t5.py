"""Short answers of T5 and mT5 compared with the library's, on random models of every kind."""

import json

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from scoring.neural.checkpoint import Checkpoint
from scoring.neural.t5 import Answers
from scoring.neural.t5_layers import position_buckets
from scoring.neural.t5_pass import T5Pass
from scoring.weights.model_files import MissingWeights
from tests.scoring.further_cases import with_further
from tests.scoring.t5_models import t5_model
from tests.scoring.tiny_models import tiny_model

INPUTS = [tuple(range(3, 40)), (5, 1), tuple(7 + n % 60 for n in range(400)), (5, 1), (1,)]
WANTED = [9, 4, 30]


def library_logits(folder, inputs, decoder_ids):
    """Return the library's logits [inputs, steps, vocabulary], one input at a time."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        return torch.cat(
            [
                model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([decoder_ids])).logits
                for ids in inputs
            ]
        )


MAKES = {
    "classic": ("t5", False, {"tie_word_embeddings": True, "feed_forward_proj": "relu"}),
    "version 1.1": ("t5", True, {}),
    "multilingual": ("mt5", True, {}),
    "silu": ("mt5", True, {"feed_forward_proj": "gated-silu"}),
    "uneven": ("t5", True, {"num_layers": 2, "num_decoder_layers": 4, "num_heads": 3, "d_kv": 6, "d_ff": 20}),
    "other distances": (
        "mt5",
        True,
        {"relative_attention_num_buckets": 12, "relative_attention_max_distance": 50},
    ),
    "other start": ("t5", True, {"decoder_start_token_id": 2, "layer_norm_epsilon": 0.01}),
}


def test_first_logits_equal_the_librarys(subtests):
    for make in MAKES:
        with subtests.test(make=make):
            kind, untied, changes = MAKES[make]
            folder = t5_model(kind, untied=untied, **changes)
            model = Answers(folder)
            expected = library_logits(folder, INPUTS, [model.start])[:, 0]
            assert expected.std() > 0.1
            found = torch.stack(model.logits(INPUTS, WANTED))
            torch.testing.assert_close(found, expected[:, WANTED], atol=1e-5, rtol=0)
            probabilities = torch.stack(model.log_probabilities(INPUTS, WANTED))
            torch.testing.assert_close(probabilities, expected.log_softmax(-1)[:, WANTED], atol=1e-5, rtol=0)


@pytest.mark.parametrize("make", with_further(["version 1.1", "multilingual"], MAKES))
def test_answer_probabilities_equal_the_librarys(make):
    kind, untied, changes = MAKES[make]
    folder = t5_model(kind, untied=untied, **changes)
    model = Answers(folder)
    answers = [(9, 4, 1), (30, 1), (12,)]
    found = torch.stack(model.answer_log_probabilities(INPUTS, answers))
    for column, answer in enumerate(answers):
        logits = library_logits(folder, INPUTS, [model.start, *answer[:-1]]).log_softmax(-1)
        expected = sum(logits[:, step, token] for step, token in enumerate(answer))
        torch.testing.assert_close(found[:, column], expected, atol=2e-5, rtol=0)


@pytest.mark.parametrize("make", with_further(["multilingual"], ["version 1.1", "multilingual"]))
def test_generated_text_equals_the_librarys(make):
    kind, untied, changes = MAKES[make]
    folder = t5_model(kind, untied=untied, **changes)
    model = Answers(folder)
    library = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    for ids, written in zip(INPUTS, model.written(INPUTS, at_most=10), strict=True):
        [expected] = library.generate(torch.tensor([ids]), max_new_tokens=10, do_sample=False).tolist()
        assert list(written) == [each for each in expected[1:] if each != 1]
    assert len({tuple(each) for each in model.written(INPUTS, at_most=10)}) > 1


def test_generation_stops_at_the_closing_id():
    folder = t5_model("t5", untied=True)
    tensors = load_file(folder / "model.safetensors")
    model = Answers(folder)
    [(first, *_)] = model.written([INPUTS[0]], at_most=1)
    tensors["lm_head.weight"][1] = 2 * tensors["lm_head.weight"][first]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert Answers(folder).written([INPUTS[0]], at_most=5) == [()]


def test_batches_do_not_change_results():
    model = Answers(t5_model("mt5", untied=True))
    together = model.logits(INPUTS, WANTED)
    for ids, found in zip(INPUTS, together, strict=True):
        [alone] = model.logits([ids], WANTED)
        torch.testing.assert_close(alone, found, atol=1e-5, rtol=0)
    assert together[1] is together[3]


def first_logits(folder):
    return torch.stack(Answers(folder).logits(INPUTS, WANTED))


def test_untied_matrices_stay_separate_and_unscaled():
    """The library sets `tie_word_embeddings` in memory, regardless of the file."""
    folder = t5_model("t5", untied=True)
    model = T5Pass(folder)
    tensors = load_file(folder / "model.safetensors")
    assert model.config.tie_word_embeddings
    [hidden] = torch.eye(32)[:1]
    torch.testing.assert_close(model.logits(hidden), tensors["lm_head.weight"][:, 0], atol=0, rtol=0)


def with_an_output_matrix(kind, **stated):
    """Return a model with two different matrices whose config.json says exactly `stated` about them."""
    folder = t5_model(kind, untied=True)
    config = json.loads((folder / "config.json").read_text())
    for name in ("tie_word_embeddings", "scale_decoder_outputs", "transformers_version"):
        config.pop(name, None)
    (folder / "config.json").write_text(json.dumps(config | stated))
    return folder


def test_different_matrices_are_read_as_the_library_does_if_its_versions_agree(subtests):
    for kind, stated in [
        ("t5", {"tie_word_embeddings": False}),
        ("t5", {"tie_word_embeddings": True, "scale_decoder_outputs": True}),
        ("t5", {"tie_word_embeddings": True, "scale_decoder_outputs": False}),
        ("mt5", {}),
        ("mt5", {"tie_word_embeddings": False}),
        ("mt5", {"tie_word_embeddings": True, "transformers_version": "5.0.0"}),
    ]:
        with subtests.test(kind=kind, stated=stated):
            folder = with_an_output_matrix(kind, **stated)
            model = Answers(folder)
            expected = library_logits(folder, INPUTS, [model.start])[:, 0, WANTED]
            torch.testing.assert_close(torch.stack(model.logits(INPUTS, WANTED)), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("kind", "stated"),
    [
        ("t5", {}),
        ("t5", {"tie_word_embeddings": True}),
        ("t5", {"transformers_version": "5.0.0"}),
        ("mt5", {"tie_word_embeddings": True}),
        ("mt5", {"tie_word_embeddings": True, "transformers_version": "4.30.2"}),
    ],
)
def test_different_matrices_that_are_said_to_be_tied_are_refused(kind, stated):
    with pytest.raises(MissingWeights, match=r"set tie_word_embeddings to false in config\.json"):
        Answers(with_an_output_matrix(kind, **stated))


@pytest.mark.parametrize("half", ["encoder", "decoder"])
def test_embeddings_may_have_the_name_of_either_half(half):
    folder = t5_model("t5")
    before = first_logits(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors[f"{half}.embed_tokens.weight"] = tensors.pop("shared.weight")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert torch.equal(first_logits(folder), before)


def test_matrix_stored_twice_counts_as_tied():
    folder = t5_model("t5", tie_word_embeddings=True)
    once = first_logits(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = tensors["shared.weight"].clone()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    torch.testing.assert_close(first_logits(folder), once, atol=0, rtol=0)


def test_tied_matrix_is_scaled_as_the_file_says(subtests):
    cases = [
        ("t5", {"scale_decoder_outputs": True}, True),
        ("t5", {"scale_decoder_outputs": False}, False),
        ("t5", {"tie_word_embeddings": True}, True),
        ("t5", {}, True),
        ("t5", {"tie_word_embeddings": False}, False),
        ("mt5", {"tie_word_embeddings": True, "transformers_version": "4.30.2"}, True),
        ("mt5", {"tie_word_embeddings": True, "transformers_version": "5.23.0"}, False),
        ("mt5", {"tie_word_embeddings": False, "transformers_version": "4.30.2"}, False),
    ]
    for kind, stated, scaled in cases:
        with subtests.test(kind=kind, stated=stated, scaled=scaled):
            folder = t5_model(kind, tie_word_embeddings=True)
            config = json.loads((folder / "config.json").read_text())
            for name in ("scale_decoder_outputs", "tie_word_embeddings"):
                config.pop(name, None)
            plain = config | {"scale_decoder_outputs": False}
            (folder / "config.json").write_text(json.dumps(plain))
            unscaled = first_logits(folder)
            (folder / "config.json").write_text(json.dumps(config | stated))
            factor = 32**-0.5 if scaled else 1
            torch.testing.assert_close(first_logits(folder), unscaled * factor, atol=1e-5, rtol=0)


def test_buckets_equal_the_librarys(subtests):
    for count, farthest in [(32, 128), (12, 50), (64, 1000), (8, 20)]:
        for sees_ahead in [True, False]:
            with subtests.test(sees_ahead=sees_ahead, count=count, farthest=farthest):
                from transformers.models.t5.modeling_t5 import T5Attention

                distances = torch.arange(-3000, 3001)
                expected = T5Attention._relative_position_bucket(distances, sees_ahead, count, farthest)
                assert position_buckets(distances, count, farthest, sees_ahead).equal(expected)


def test_weights_in_several_files_are_read():
    folder = t5_model("t5", untied=True)
    expected = first_logits(folder)
    model = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(model)
    index = {}
    for part, chosen in enumerate((names[:20], names[20:])):
        save_file({name: model[name] for name in chosen}, folder / f"part{part}.safetensors")
        index |= dict.fromkeys(chosen, f"part{part}.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    torch.testing.assert_close(first_logits(folder), expected, atol=0, rtol=0)


def test_missing_part_is_reported():
    folder = t5_model("t5", untied=True)
    (folder / "model.safetensors").rename(folder / "part1.safetensors")
    index = {"weight_map": {"shared.weight": "part2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(MissingWeights, match=r"names 'part2\.safetensors', which is missing"):
        Checkpoint(folder)


def test_missing_weights_are_reported():
    folder = t5_model("t5", untied=True)
    tensors = load_file(folder / "model.safetensors")
    lacking = "decoder.block.1.layer.1.EncDecAttention.k.weight"
    del tensors[lacking]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MissingWeights, match=lacking):
        Answers(folder)


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ({"num_layers": 2}, r"encoder\.block\.2\.layer\.0\..* \(9 in all\)"),
        ({"num_decoder_layers": 1}, r"decoder\.block\.1\.layer\.0\..* \(14 in all\)"),
        (
            {"num_heads": 1},
            r"Attention\.k\.weight is 32 x 32, and 16 x 32 is needed",
        ),
    ],
)
def test_more_than_the_configuration_states_is_refused(stated, named):
    folder = t5_model("t5", untied=True, stated=stated)
    with pytest.raises(MissingWeights, match=named):
        Answers(folder)


def test_weights_that_nothing_reads_are_ignored():
    """The first T5 models were published with a table that no program reads; others have further heads."""
    folder = t5_model("t5", untied=True)
    expected = first_logits(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["encoder.embed_tokens.weight"] = tensors["shared.weight"].clone()
    tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = torch.ones(32, 2)
    tensors["classification_head.dense.weight"] = torch.ones(2, 2)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    torch.testing.assert_close(first_logits(folder), expected, atol=0, rtol=0)


def test_other_kinds_of_models_are_refused():
    with pytest.raises(MissingWeights, match="bart"):
        Answers(tiny_model("bart"))


def test_fewer_embeddings_than_stated_are_refused():
    folder = t5_model("t5", untied=True)
    tensors = load_file(folder / "model.safetensors")
    tensors["shared.weight"] = tensors["shared.weight"][:-1].clone()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MissingWeights, match=r"shared\.weight is \d+ x 32, and \d+ x 32"):
        Answers(folder)


def test_bfloat16_is_close():
    folder = t5_model("mt5", untied=True)
    near = torch.stack(Answers(folder, "bfloat16").logits(INPUTS, WANTED))
    exact = first_logits(folder)
    assert (near - exact).abs().max() < 0.2 * exact.std()
    assert not near.equal(exact)
