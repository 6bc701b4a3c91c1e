"""SEAHORSE's metric beside the public recipe for it, in one run: the probability of 1 among 1 and 0.

    OMP_NUM_THREADS=1 python benchmarks/evaluators/seahorse.py FOLDER_OF_SUMMEVAL

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src` and
`sys_summs: {system: {sys_summ}}`. There is no official program. The peers are the library's `generate` with
`output_scores`, let write one token, as public scripts use it, and one forward pass with one decoder step;
both with the library's modules on padded batches of 8, in the order of articles, which is their best, or with
`--order systems` as data come whose neighbours have different articles. All have the same weights
(`--model FOLDER`, or random ones of the shape of mT5 small, with a tokenizer trained on the texts), library
and thread. Prints summaries per second of CPU time, the ratios, the largest differences of scores and logits
and how widely they are spread, and how much of the time the matrix products that cannot be avoided take at
the rate at which this machine multiplies matrices. TRUE and XNLI go the same way through the same code.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, pstdev
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, MT5Config, PreTrainedTokenizerFast

from benchmarks.evaluators.shared import load_ours, product_rate, read_summeval, score, timed
from scoring.contract.items import Item
from scoring.neural.t5 import Answers

BUDGET = 2.0
"""Times as fast as `generate`."""
LARGEST = 1e-5
PIECES = 8_000
"""With so many an article of SummEval is about as long as in mT5's own vocabulary."""
BATCH = 8
LABELS = ("0", "1")
Peer = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From ids and mask to the logits of the first step."""


def random_model(folder: Path, texts: Sequence[str], layers: int) -> Path:
    """Write an mT5 with an output matrix, which the library writes only if it has read one."""
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    specials = ["<pad>", "</s>", "<unk>"]
    trained.train_from_iterator(
        [*texts, "0 1 premise: hypothesis: " * 1000],
        trainers.BpeTrainer(vocab_size=PIECES, special_tokens=specials, show_progress=False),
    )
    trained.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=trained, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = MT5Config(num_layers=layers)
    AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = 0.1 * torch.randn(config.vocab_size, config.d_model)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    stated = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(stated | {"tie_word_embeddings": False}))
    return folder


class Recipe:
    """What public scripts do with the library."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
        self.labels = [self.tokenizer(label, add_special_tokens=False)["input_ids"][0] for label in LABELS]

    def generated(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        first: torch.Tensor = self.model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=1,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
        ).scores[0]
        return first

    def passed(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        start = torch.full((len(ids), 1), self.model.config.decoder_start_token_id or 0)
        logits: torch.Tensor = self.model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits
        return logits[:, 0]

    @torch.inference_mode()
    def logits(self, peer: Peer, items: Sequence[Item]) -> torch.Tensor:
        """Return the logits of the labels, (items, labels)."""
        found = []
        for start in range(0, len(items), BATCH):
            prompts = [prompt(item) for item in items[start : start + BATCH]]
            read = self.tokenizer(
                prompts, return_tensors="pt", padding=True, truncation=True, max_length=2048
            )
            found.append(peer(read["input_ids"], read["attention_mask"])[:, self.labels])
        return torch.cat(found)


def system(item: Item) -> str:
    return item.id.rpartition("/")[2]


def prompt(item: Item) -> str:
    return f"premise: {item.article} hypothesis: {item.summary}"


def our_scores(evaluator: Any, items: Sequence[Item]) -> list[float]:
    return [value for each in score(evaluator, items) for value in each.values.values()]


def unavoidable_products(model: Path, lengths: Sequence[int]) -> float:
    """Return the floating-point operations of the matrix products of encoder and decoder."""
    config = MT5Config.from_pretrained(model)
    inner = config.num_heads * config.d_kv
    feed_forward = (3 if config.is_gated_act else 2) * config.d_model * config.d_ff
    total = 0.0
    for length in lengths:
        encoded = 4 * config.d_model * inner + feed_forward + 2 * length * inner
        decoded = 2 * config.num_heads * config.d_model
        total += length * (config.num_layers * encoded + config.num_decoder_layers * decoded)
    return 2 * total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--layers", type=int, default=8, help="of random weights")
    parser.add_argument("--articles", type=int, default=2)
    parser.add_argument("--systems", type=int, default=16)
    parser.add_argument("--order", choices=("articles", "systems"), default="articles")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    everything = read_summeval(given.folder)
    chosen = set(list(dict.fromkeys(item.article for item in everything))[: given.articles])
    systems = list(dict.fromkeys(map(system, everything)))
    items = [
        item for item in everything if item.article in chosen and system(item) in systems[: given.systems]
    ]
    if given.order == "systems":
        items.sort(key=lambda item: systems.index(system(item)))
    texts = sorted({text for item in everything for text in (item.article or "", item.summary)})
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or random_model(Path(folder), texts, given.layers)
        compare(model, items, given.rounds)


def compare(model: Path, items: list[Item], rounds: int) -> None:
    recipe = Recipe(model)
    first_token = Answers(model)
    inputs = [
        (*ids, *first_token.tokens.closing) for ids in first_token.tokens.pieces(list(map(prompt, items)))
    ]
    lengths = [len(ids) for ids in dict.fromkeys(inputs)]
    print(
        f"{len(items)} summaries, {len(lengths)} distinct inputs of {sum(lengths) / len(lengths):.0f} tokens"
    )
    logits = torch.stack([each for each in first_token.logits(inputs, recipe.labels) if each is not None])
    del first_token

    ours, by_generate, by_pass = [], [], []
    for number in range(1, rounds + 1):
        evaluator = load_ours("seahorse", model=str(model))
        seconds, scores = timed(lambda each=evaluator: our_scores(each, items))
        generating, generated = timed(lambda: recipe.logits(recipe.generated, items))
        passing, passed = timed(lambda: recipe.logits(recipe.passed, items))
        ours.append(seconds)
        by_generate.append(generating / seconds)
        by_pass.append(passing / seconds)
        off_scores, off_logits = (
            max((one - other).abs().max().item() for other in others)
            for one, others in (
                (torch.tensor(scores), [each.softmax(dim=1)[:, 1] for each in (generated, passed)]),
                (logits, [generated, passed]),
            )
        )
        print(
            f"round {number}: summaries/s ours {len(items) / seconds:.2f}, generate "
            f"{len(items) / generating:.2f}, pass {len(items) / passing:.2f}; {by_generate[-1]:.2f} and "
            f"{by_pass[-1]:.2f} times as fast; largest difference of scores {off_scores:.1e}, of logits "
            f"{off_logits:.1e}"
        )
        if max(off_scores, off_logits) > LARGEST:
            raise SystemExit("the results differ")
    print(
        f"scores from {min(scores):.3f} to {max(scores):.3f}; logits from {logits.min():.2f} to "
        f"{logits.max():.2f}, deviation {pstdev(logits.flatten().tolist()):.2f}"
    )
    floor = unavoidable_products(model, lengths) / product_rate(recipe.model.config.d_model)
    print(
        f"median: {median(by_generate):.2f} times as fast as generate (budget {BUDGET:.0f}), "
        f"{median(by_pass):.2f} as one pass; the unavoidable products alone take {floor:.2f} of "
        f"{median(ours):.2f} s, {floor / median(ours):.0%}"
    )
    if median(by_generate) < BUDGET:
        raise SystemExit("the budget is missed")


if __name__ == "__main__":
    main()
