"""What it saves to read the examples of a prompt once: a local model with and without what prompts share.

    OMP_NUM_THREADS=1 python benchmarks/evaluators/ice_local.py

A random Llama of the size asked for judges summaries behind the same examples: `--shared` tokens that all
prompts have in common, `--own` of each. Each round asks for all summaries without and with the shared part,
which is read anew each time; both in this process, on one thread. Prints, by mode, summaries per second of
CPU time, the median of the rounds' ratios, and the ratio of the multiplications that either way takes, which
is as much as could be saved; then the largest difference of probabilities.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from scoring.contract.requests import Reply, Request, Wanted
from scoring.neural.causal_lm import LocalModel

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "tests" / "scoring" / "tiny_tokenizers" / "byte_pairs.json"
WORDS = ("the", "cat", "sat", "on", "mat", "talks", "went", "officials", "said", "shares", "fell", "report")
MARKS = tuple(f"{step / 20:.2f}" for step in range(21))
MODES = {
    "greedy": {},
    "first token": {"wanted": Wanted.FIRST_TOKEN, "marks": ("Yes", "No")},
    "candidates": {"wanted": Wanted.LIKELIHOOD, "marks": MARKS},
}
REPLY = 6
"""Tokens of a greedy reply."""


def random_model(folder: Path, layers: int, width: int, vocabulary: int) -> Path:
    PreTrainedTokenizerFast(
        tokenizer_file=str(TOKENIZER), bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    ).save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        max_position_embeddings=8192,
        initializer_range=0.05,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=1,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def text(tokenizer: PreTrainedTokenizerFast, length: int, draw: random.Random) -> str:
    """Return words of about `length` tokens together."""
    words: list[str] = []
    while len(tokenizer(" ".join(words), add_special_tokens=False)["input_ids"]) < length:
        words += draw.choices(WORDS, k=5)
    return " ".join(words)


def timed(model: LocalModel, requests: Sequence[Request]) -> tuple[list[Reply], float]:
    model._model._beginnings.clear()
    began = time.process_time()
    replies = model.replies(requests)
    return replies, time.process_time() - began


def multiplications(first: int, last: int, layers: int, width: int) -> float:
    """Return the multiplications for the tokens from `first` to `last` of a text.

    The matrices have 4 x width^2 (attention) and 12 x width^2 (feed-forward) cells.
    """
    seen = (last**2 - first**2) / 2
    return layers * ((last - first) * 16 * width**2 + seen * 2 * width)


def most_saved(shared: int, own: int, further: int, summaries: int, layers: int, width: int) -> float:
    plain = summaries * multiplications(0, shared + own + further, layers, width)
    reused = summaries * multiplications(shared, shared + own + further, layers, width)
    return plain / (reused + multiplications(0, shared, layers, width))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--vocabulary", type=int, default=32_000)
    parser.add_argument("--shared", type=int, default=1500)
    parser.add_argument("--own", type=int, default=150)
    parser.add_argument("--summaries", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        folder = random_model(Path(made), given.layers, given.width, given.vocabulary)
        model = LocalModel(folder, is_chat=False)
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER))
        draw = random.Random(0)
        examples = text(tokenizer, given.shared, draw) + "\n\n"
        own = [
            f"{text(tokenizer, draw.randint(given.own * 2 // 3, given.own * 4 // 3), draw)}\nfluency:"
            for _ in range(given.summaries)
        ]
        model.replies([Request("to load the model", max_tokens=1)])
        for name, mode in MODES.items():
            shared = [
                Request(examples + each, shared=len(examples), max_tokens=REPLY, **mode) for each in own
            ]
            plain = [Request(each.prompt, max_tokens=REPLY, **mode) for each in shared]
            ratios, speeds = [], []
            for _ in range(given.rounds):
                before, slow = timed(model, plain)
                after, fast = timed(model, shared)
                ratios.append(slow / fast)
                speeds.append((given.summaries / slow, given.summaries / fast))
            slow, fast = (median(each) for each in zip(*speeds, strict=True))
            further = {"greedy": REPLY, "first token": 0, "candidates": 25}[name]
            bound = most_saved(given.shared, given.own, further, given.summaries, given.layers, given.width)
            apart = max(
                (
                    abs(one.probabilities[mark] - other.probabilities[mark])
                    for one, other in zip(before, after, strict=True)
                    for mark in one.probabilities
                ),
                default=0.0,
            )
            same = all(one.text == other.text for one, other in zip(before, after, strict=True))
            print(
                f"{name:12} {slow:6.2f} -> {fast:6.2f} summaries/s, x {median(ratios):.2f} "
                f"({min(ratios):.2f} to {max(ratios):.2f}), at most x {bound:.2f}; "
                f"texts {'equal' if same else 'differ'}, probabilities apart {apart:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
