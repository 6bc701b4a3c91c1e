import functools
import math

import pytest
import torch
import transformers

from scoring.asking.request import Request, Wanted
from scoring.neural.causal_lm import LocalModel
from tests.scoring.tiny_models import tiny_model

KINDS = ("llama", "gpt2", "mistral", "bloom")
"""Grouped queries; positions learnt; a window that slides; no positions at all, so that nothing is shared."""
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
    *(request(each) for each in SUMMARIES),
    *(request(each, temperature=1.0, sample=sample) for each in SUMMARIES[:2] for sample in range(2)),
    *(request(each, Wanted.FIRST_TOKEN, ("0", "1", "2")) for each in SUMMARIES),
    *(request(each, Wanted.LIKELIHOOD, MARKS) for each in SUMMARIES),
]


def ids_of(folder, asked, is_chat):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
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
    """[tokens, vocabulary], without any cache."""
    return plain_model(folder)(torch.tensor([ids]), use_cache=False).logits[0].double().log_softmax(dim=-1)


def plain_likelihood(folder, ids, reply, ends):
    logs = plain_logs(folder, [*ids, *reply])[len(ids) - 1 :]
    written = sum(logs[step, token].item() for step, token in enumerate(reply))
    return math.exp(written) * logs[-1, ends].exp().sum().item()


def line_ends(tokenizer):
    return [token for token in range(len(tokenizer)) if tokenizer.decode([token]).startswith("\n")]


def assert_alike(some, others):
    for one, other in zip(some, others, strict=True):
        assert (one.text, one.problem, one.usage) == (other.text, other.problem, other.usage)
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)


@pytest.mark.parametrize("is_chat", [True, False])
@pytest.mark.parametrize("kind", KINDS)
class TestAsThePlainLibrary:
    def test_the_likeliest_text(self, kind, is_chat):
        folder = tiny_model(kind)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        asked = [request(each, system="Judge." * is_chat, max_tokens=12) for each in SUMMARIES]
        for each, reply in zip(asked, LocalModel(folder, is_chat=is_chat).replies(asked), strict=True):
            ids = ids_of(folder, each, is_chat)
            out = plain_model(folder).generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False)[0]
            text = tokenizer.decode(out[len(ids) :], skip_special_tokens=True)
            assert reply.text == (text if is_chat else text.split("\n")[0])
            assert reply.usage.prompt_tokens == len(ids)

    def test_the_probabilities_of_first_tokens(self, kind, is_chat):
        folder = tiny_model(kind)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        asked = [request(each, Wanted.FIRST_TOKEN, ("0", "1"), "Judge." * is_chat) for each in SUMMARIES]
        for each, reply in zip(asked, LocalModel(folder, is_chat=is_chat).replies(asked), strict=True):
            shares = plain_logs(folder, ids_of(folder, each, is_chat))[-1].exp()
            for mark in ("0", "1"):
                ids = tokenizer.convert_tokens_to_ids([mark, f"\u0120{mark}"])
                assert reply.probabilities[mark] == pytest.approx(shares[ids].sum().item(), abs=1e-5)

    def test_the_likelihoods_of_whole_marks(self, kind, is_chat):
        folder = tiny_model(kind)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        ends = [tokenizer.eos_token_id, *([] if is_chat else line_ends(tokenizer))]
        asked = [request(each, Wanted.LIKELIHOOD, MARKS, "Judge." * is_chat) for each in SUMMARIES]
        for each, reply in zip(asked, LocalModel(folder, is_chat=is_chat).replies(asked), strict=True):
            ids = ids_of(folder, each, is_chat)
            for mark in MARKS:
                own = tokenizer(mark if is_chat else f" {mark}", add_special_tokens=False)["input_ids"]
                expected = plain_likelihood(folder, ids, own, ends)
                assert reply.probabilities[mark] == pytest.approx(expected, rel=1e-3)
                assert reply.probabilities[mark] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_chat", [True, False])
def test_neither_batches_nor_their_order_move_a_reply(kind, is_chat):
    folder = tiny_model(kind)
    model = LocalModel(folder, is_chat=is_chat)
    together = model.replies(REQUESTS)
    assert_alike(model.replies(REQUESTS[::-1])[::-1], together)
    alone = LocalModel(folder, is_chat=is_chat)
    assert_alike([alone.replies([each])[0] for each in REQUESTS], together)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shared_moves_no_reply(kind):
    model = LocalModel(tiny_model(kind), is_chat=False)
    plain = [Request(**{**as_dict(each), "shared": 0}) for each in REQUESTS]
    assert_alike(model.replies(REQUESTS), model.replies(plain))


def as_dict(asked):
    return {name: getattr(asked, name) for name in Request.__dataclass_fields__}
