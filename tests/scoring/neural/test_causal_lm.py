import functools
import math
import shutil
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import TOO_LONG, Request, Wanted
from scoring.contract.scores import NOT_FINITE, OUT_OF_MEMORY
from scoring.neural.causal_lm import LocalModel
from scoring.prompts.marks import Unread
from scoring.weights.model_files import MissingWeights
from tests.scoring.further_cases import with_further
from tests.scoring.tiny_models import tiny_model

KINDS = ("llama", "gpt2", "mistral", "bloom")
"""Grouped queries; learnt positions; a sliding window; no positions, which excludes sharing."""
EXAMPLES = "Summary: The cat sat on the mat.\nfluency: 0.90\n\nSummary: Talks the on went.\nfluency: 0.15\n\n"
SUMMARIES = (
    "It was a good mat.",
    "El gato.",
    "Die Katze saß auf der Matte, und es war Montag. \U0001f600",
    "No.",
)
MARKS = ("0.00", "0.05", "0.50", "0.95", "1.00")


def request(summary="No.", wanted=Wanted.TEXT, marks=(), system="", **changes):
    return Request(
        f"{EXAMPLES}Summary: {summary}\nfluency:",
        system=system,
        shared=len(EXAMPLES),
        wanted=wanted,
        marks=marks,
        **changes,
    )


REQUESTS = [
    *(request(each, max_tokens=8) for each in SUMMARIES),
    *(
        request(each, max_tokens=8, temperature=1.0, sample=sample)
        for each in SUMMARIES[:2]
        for sample in range(2)
    ),
    *(request(each, Wanted.FIRST_TOKEN, ("0", "1", "2")) for each in SUMMARIES),
    *(request(each, Wanted.LIKELIHOOD, MARKS) for each in SUMMARIES),
]


@functools.cache
def plain_tokenizer(folder):
    return transformers.AutoTokenizer.from_pretrained(folder)


def ids_of(folder, asked, is_chat):
    tokenizer = plain_tokenizer(folder)
    if not is_chat:
        return tokenizer(asked.prompt)["input_ids"]
    said = [{"role": "system", "content": asked.system}] if asked.system else []
    said.append({"role": "user", "content": asked.prompt})
    return tokenizer.apply_chat_template(said, add_generation_prompt=True)["input_ids"]


@functools.cache
def plain_model(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


@torch.inference_mode()
def plain_logs(folder, ids):
    """Return log-probabilities [tokens, vocabulary], without any cache."""
    return plain_model(folder)(torch.tensor([ids]), use_cache=False).logits[0].double().log_softmax(dim=-1)


def plain_likelihood(folder, ids, reply, ends):
    logs = plain_logs(folder, [*ids, *reply])[len(ids) - 1 :]
    written = sum(logs[step, token].item() for step, token in enumerate(reply))
    return math.exp(written) * logs[-1, ends].exp().sum().item()


@functools.cache
def local_model(kind, is_chat=False, **changes):
    return LocalModel(tiny_model(kind, **changes), is_chat=is_chat)


def line_ends(tokenizer):
    return [token for token in range(len(tokenizer)) if tokenizer.decode([token]).startswith("\n")]


def assert_alike(some, others):
    for one, other in zip(some, others, strict=True):
        assert (one.text, one.problem, one.usage) == (other.text, other.problem, other.usage)
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)


EACH = [*product(KINDS, (True, False))]
IN_EACH_RUN = [("llama", True), ("gpt2", False), ("mistral", True), ("bloom", False)]


@pytest.mark.parametrize(("kind", "is_chat"), with_further(IN_EACH_RUN, EACH))
class TestEqualsTheLibrary:
    def test_greedy_text_equals_the_librarys(self, kind, is_chat):
        folder = tiny_model(kind)
        tokenizer = plain_tokenizer(folder)
        asked = [request(each, system="Judge." * is_chat, max_tokens=12) for each in SUMMARIES]
        for each, reply in zip(asked, local_model(kind, is_chat).replies(asked), strict=True):
            ids = ids_of(folder, each, is_chat)
            out = plain_model(folder).generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False)[0]
            text = tokenizer.decode(out[len(ids) :], skip_special_tokens=True)
            assert reply.text == (text if is_chat else text.split("\n")[0])
            assert reply.usage.prompt_tokens == len(ids)

    def test_first_token_probabilities_equal_the_librarys(self, kind, is_chat):
        folder = tiny_model(kind)
        tokenizer = plain_tokenizer(folder)
        asked = [request(each, Wanted.FIRST_TOKEN, ("0", "1"), "Judge." * is_chat) for each in SUMMARIES]
        for each, reply in zip(asked, local_model(kind, is_chat).replies(asked), strict=True):
            shares = plain_logs(folder, ids_of(folder, each, is_chat))[-1].exp()
            for mark in ("0", "1"):
                ids = tokenizer.convert_tokens_to_ids([mark, f"\u0120{mark}"])
                assert reply.probabilities[mark] == pytest.approx(shares[ids].sum().item(), abs=1e-5)

    def test_likelihoods_of_whole_marks_equal_the_librarys(self, kind, is_chat):
        folder = tiny_model(kind)
        tokenizer = plain_tokenizer(folder)
        ends = [tokenizer.eos_token_id, *([] if is_chat else line_ends(tokenizer))]
        asked = [request(each, Wanted.LIKELIHOOD, MARKS, "Judge." * is_chat) for each in SUMMARIES]
        for each, reply in zip(asked, local_model(kind, is_chat).replies(asked), strict=True):
            ids = ids_of(folder, each, is_chat)
            for mark in MARKS:
                own = tokenizer(mark if is_chat else f" {mark}", add_special_tokens=False)["input_ids"]
                expected = plain_likelihood(folder, ids, own, ends)
                assert reply.probabilities[mark] == pytest.approx(expected, rel=1e-3)
                assert reply.probabilities[mark] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("kind", "is_chat"), with_further([("llama", True), ("bloom", False)], EACH))
def test_replies_do_not_depend_on_batches_or_order(kind, is_chat):
    folder = tiny_model(kind)
    model = LocalModel(folder, is_chat=is_chat)
    together = model.replies(REQUESTS)
    assert_alike(model.replies(REQUESTS[::-1])[::-1], together)
    alone = LocalModel(folder, is_chat=is_chat)
    assert_alike([alone.replies([each])[0] for each in REQUESTS], together)


def test_sharing_does_not_change_replies(subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            model = LocalModel(tiny_model(kind), is_chat=False)
            plain = [replace(each, shared=0) for each in REQUESTS]
            assert_alike(model.replies(REQUESTS), model.replies(plain))


@settings(max_examples=15)
@given(
    summaries=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=4
    ),
    shared=st.integers(0, len(EXAMPLES) + 9),
)
def test_any_shared_part_gives_the_same_ids(summaries, shared):
    model = local_model("llama")
    asked = [replace(request(each, Wanted.LIKELIHOOD, MARKS), shared=shared) for each in summaries]
    assert_alike(model.replies(asked), model.replies([replace(each, shared=0) for each in asked]))


@pytest.mark.parametrize("window", [16, 120, 4096])
def test_sliding_window_hides_the_same_tokens(window):
    """The windows are shorter than the text after the examples, shorter than the prompt, and longer."""
    folder = tiny_model("mistral", sliding_window=window)
    ids = plain_tokenizer(folder).convert_tokens_to_ids(["1", "\u01201"])
    asked = [each for each in REQUESTS if each.wanted == Wanted.FIRST_TOKEN]
    for each, reply in zip(asked, LocalModel(folder, is_chat=False).replies(asked), strict=True):
        shares = plain_logs(folder, ids_of(folder, each, False))[-1].exp()
        assert reply.probabilities["1"] == pytest.approx(shares[ids].sum().item(), abs=1e-5)


class TokenCounter:
    """Count the tokens that go through a model's first layer."""

    def __init__(self, model):
        self.tokens = 0
        model._model._model.get_input_embeddings().register_forward_hook(self.count)

    def count(self, _module, given, _found):
        self.tokens += given[0].numel()


def test_beginning_is_computed_once_for_all_calls():
    model = LocalModel(tiny_model("llama", rope_theta=9000.0), is_chat=False)
    asked = [request(each, Wanted.LIKELIHOOD, MARKS) for each in SUMMARIES]
    examples = model._prompts.of(asked[0]).shared
    assert examples == len(ids_of(tiny_model("llama"), Request(EXAMPLES), is_chat=False))
    counted = TokenCounter(model)
    model.replies([replace(each, shared=0) for each in asked])
    plain = counted.tokens
    model.replies(asked)
    shared = counted.tokens - plain
    assert shared == plain - examples * (len(asked) - 1)
    model.replies(asked)
    assert counted.tokens - plain - shared == shared - examples


def test_samples_compute_their_prompt_once():
    model = LocalModel(tiny_model("llama", rope_theta=8000.0), is_chat=False)
    counted = TokenCounter(model)
    draws = [request(temperature=1.0, sample=sample, max_tokens=1) for sample in range(6)]
    model.replies(draws[:1])
    once = counted.tokens
    model.replies(draws)
    assert counted.tokens - once < once


def test_cache_keeps_the_last_beginnings():
    model = local_model("llama")
    for number in range(12):
        text = f"Example {number}.\n\n"
        model.replies([Request(f"{text}fluency:", shared=len(text), max_tokens=1)])
    assert len(model._model._beginnings) == 8


def test_samples_follow_the_models_probabilities():
    model = local_model("llama", is_chat=True)
    draws = [request(temperature=2.0, sample=sample, max_tokens=1) for sample in range(600)]
    found = Counter(reply.text for reply in model.replies(draws))
    logs = plain_logs(tiny_model("llama"), ids_of(tiny_model("llama"), draws[0], True))[-1]
    shares = (logs / 2).softmax(dim=-1)
    expected = Counter()
    for text, share in zip(model._prompts.pieces, shares.tolist(), strict=True):
        expected[text] += share
    for text, share in expected.most_common(5):
        spread = 4 * (share * (1 - share) / 600) ** 0.5
        assert found[text] / 600 == pytest.approx(share, abs=spread)


def test_sample_number_decides_the_draw():
    model = local_model("llama")
    first, second = (request(temperature=1.0, sample=sample) for sample in range(2))
    assert model.replies([first])[0].text != model.replies([second])[0].text
    assert model.replies([second, first])[1] == model.replies([first])[0]


def test_low_temperature_is_greedy():
    model = local_model("llama")
    drawn, greedy = model.replies([request(temperature=0.001), request()])
    assert drawn.text == greedy.text


def test_truncated_reply_is_marked():
    [reply] = local_model("llama", is_chat=True).replies([request(max_tokens=2)])
    assert (reply.problem, reply.usage.completion_tokens) == (Unread.TRUNCATED, 2)


def test_completion_ends_at_the_end_of_its_line():
    folder = tiny_model("llama")
    tokenizer = plain_tokenizer(folder)
    asked = [request(each, temperature=3.0, sample=sample) for each in SUMMARIES for sample in range(40)]
    completions = local_model("llama").replies(asked)
    assert not any("\n" in each.text for each in completions)
    assert any(each.problem is None and each.text for each in completions)
    assert any("\n" in each.text for each in local_model("llama", is_chat=True).replies(asked))
    assert all(each.problem in (None, Unread.TRUNCATED) for each in completions)
    assert tokenizer.eos_token not in "".join(each.text for each in completions)


def test_likelihoods_of_all_marks_sum_to_less_than_1():
    """Over all ends and all tokens before them, likelihoods sum to at most 1."""
    [whole] = local_model("llama").replies([request(wanted=Wanted.LIKELIHOOD, marks=MARKS)])
    assert 0 < sum(whole.probabilities.values()) < 1
    assert whole.text == max(whole.probabilities, key=whole.probabilities.get)


def test_only_the_usual_spelling_of_a_mark_must_be_a_single_token():
    model = local_model("llama", is_chat=True)
    spelt = request("The cat", Wanted.FIRST_TOKEN, ("No", "NO", "Yes", "YES"))
    [reply] = model.replies([spelt])
    assert reply.probabilities["Yes"] > 0
    with pytest.raises(EvaluatorError, match="'YES' is not a single token"):
        model.replies([replace(spelt, marks=("YES", "Yes"))])


def test_mark_of_several_tokens_is_refused():
    with pytest.raises(EvaluatorError, match=r"'0\.50' is not a single token") as raised:
        local_model("llama").replies([request(wanted=Wanted.FIRST_TOKEN, marks=("1", "0.50"))])
    assert raised.value.permanent


def test_a_schema_is_refused():
    with pytest.raises(EvaluatorError, match="do not support JSON schemas"):
        local_model("llama").replies([request(schema="{}")])


def test_an_empty_prompt_is_refused():
    with pytest.raises(EvaluatorError, match="prompt is empty"):
        local_model("gpt2").replies([Request("")])


def test_a_chat_needs_a_template():
    with pytest.raises(EvaluatorError, match="no chat template"):
        LocalModel(tiny_model("bart"), is_chat=True).replies([request()])


NOT_CAUSAL = [("bert", "ForMaskedLM"), ("roberta", "ForMaskedLM"), ("t5", "")]


@pytest.mark.parametrize(("kind", "head"), with_further(NOT_CAUSAL[:1], NOT_CAUSAL))
def test_non_causal_model_is_refused(kind, head):
    with pytest.raises(MissingWeights, match=r"reads ahead|cannot be loaded"):
        LocalModel(tiny_model(kind, head), is_chat=False).replies([Request("The cat.")])


def test_prompt_beyond_the_positions_is_too_long():
    model = local_model("gpt2", n_positions=256)
    fitting, too_long = model.replies([Request("The cat."), Request("The cat. " * 100)])
    assert (fitting.problem, too_long.problem) != (TOO_LONG, None)
    assert too_long.problem == TOO_LONG


def test_out_of_memory_is_retried_in_halves_and_reported():
    model = LocalModel(tiny_model("llama", rope_theta=7000.0), is_chat=False)
    expected = model.replies(REQUESTS)
    inner = model._model._model

    def bounded(module, given, named):
        if named["input_ids"].shape[0] > most:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    inner.register_forward_pre_hook(bounded, with_kwargs=True)
    most = 1
    assert_alike(model.replies(REQUESTS), expected)
    most = 0
    assert {each.problem for each in model.replies(REQUESTS)} == {OUT_OF_MEMORY}


def test_request_with_nan_in_its_pass_has_no_reply(tmp_path):
    model = LocalModel(shutil.copytree(tiny_model("llama"), tmp_path / "model"), is_chat=False)
    expected = model.replies(REQUESTS)
    spoilt = plain_tokenizer(tiny_model("llama"))("\U0001f600", add_special_tokens=False)["input_ids"][-1]
    with torch.no_grad():
        model._model._model.get_input_embeddings().weight[spoilt] = math.nan
    found = model.replies(REQUESTS)
    has_it = ["\U0001f600" in each.prompt for each in REQUESTS]
    assert any(has_it)
    assert [each.problem == NOT_FINITE for each in found] == has_it
    assert_alike(
        [each for each, has in zip(found, has_it, strict=True) if not has],
        [each for each, has in zip(expected, has_it, strict=True) if not has],
    )


def test_model_without_finite_numbers_is_refused(tmp_path):
    folder = shutil.copytree(tiny_model("gpt2"), tmp_path / "model")
    tensors = load_file(folder / "model.safetensors")
    tensors["transformer.ln_f.weight"][:] = 3e38
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(MissingWeights, match="gives no finite numbers"):
        LocalModel(folder, is_chat=False).replies([Request("The cat.")])


def test_evaluators_with_the_same_weights_share_one_model(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model("llama"), folder)
    one, other = (LocalModel(folder, is_chat=is_chat) for is_chat in (True, False))
    one.replies([request(max_tokens=1)])
    other.replies([request(max_tokens=1)])
    assert one._model is other._model
    shutil.copy(tiny_model("llama", rope_theta=6000.0) / "config.json", folder)
    third = LocalModel(folder, is_chat=True)
    third.replies([request(max_tokens=1)])
    assert third._model is not one._model
