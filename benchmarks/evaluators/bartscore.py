"""BARTScore beside its authors' program, in one run, from article to summary.

    git clone https://github.com/neulab/BARTScore
    OMP_NUM_THREADS=1 python benchmarks/evaluators/bartscore.py BARTScore/SUM/bart_score.py FOLDER_OF_SUMMEVAL

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src` and
`sys_summs: {system: {sys_summ}}`. Both sides have the same weights (`--model FOLDER`, or random ones of the
size asked for, with a tokenizer trained on the texts), library and thread. The authors' program gets all
pairs in the order of articles, which is its best, in one call. Prints summaries per second of CPU time, the
ratio of both and the largest difference of scores, and how much of the time the matrix products that cannot
be avoided take at the rate at which this machine multiplies matrices.
"""

import argparse
import importlib.util
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from tokenizers import ByteLevelBPETokenizer
from transformers import BartConfig, BartForConditionalGeneration, BartTokenizer

from benchmarks.evaluators.shared import load_ours, product_rate, read_summeval, score
from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.neural.prefix_tree import PrefixTrees

VOCABULARY = 50265
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def random_model(folder: Path, texts: Sequence[str], width: int, layers: int) -> Path:
    """Write a model with random weights, wide enough for scores to differ."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=VOCABULARY, special_tokens=SPECIALS, show_progress=False)
    trained.save_model(str(folder))
    BartTokenizer.from_pretrained(folder).save_pretrained(folder)
    torch.manual_seed(0)
    half = {"layers": layers, "attention_heads": width // 64, "ffn_dim": 4 * width}
    sizes = {f"{name}_{key}": value for name in ("encoder", "decoder") for key, value in half.items()}
    config = BartConfig(vocab_size=VOCABULARY, d_model=width, init_std=0.05, **sizes)
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


def load_peer(path: Path, model: Path) -> Any:
    spec = importlib.util.spec_from_file_location("bart_score", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BARTScorer(device="cpu", checkpoint=str(model))


def our_scores(evaluator: Any, items: Sequence[Item]) -> list[float]:
    return [scored.values[GENERAL] for scored in score(evaluator, items)]


def unavoidable_products(model: Path, items: Sequence[Item]) -> float:
    """Return the floating-point operations of the matrix products, each article and each prefix once."""
    tokenizer = BartTokenizer.from_pretrained(model)
    config = BartConfig.from_pretrained(model)
    width, total = config.d_model, 0.0
    for article in dict.fromkeys(item.article for item in items):
        source = len(tokenizer(article, truncation=True, max_length=1024)["input_ids"])
        summaries = [item.summary for item in items if item.article == article]
        targets = tokenizer(summaries, truncation=True, max_length=1024)["input_ids"]
        trees = PrefixTrees([[target[:-1] for target in targets]])
        nodes = len(trees.tokens) + 1
        own = fmean(trees.positions) + 1
        encoded = 4 * width**2 + 2 * width * config.encoder_ffn_dim + 2 * source * width
        decoded = 6 * width**2 + 2 * width * config.decoder_ffn_dim + 2 * (source + own) * width
        total += config.encoder_layers * source * encoded
        total += config.decoder_layers * (nodes * decoded + 2 * source * width**2)
        total += nodes * width * config.vocab_size
    return 2 * total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peer", type=Path, help="SUM/bart_score.py of the authors' repository")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    items = read_summeval(given.folder, given.articles)
    texts = [text for item in items for text in (item.article or "", item.summary)]
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or random_model(Path(folder), texts, given.width, given.layers)
        compare(given.peer, model, items, given.rounds)


def compare(peer_path: Path, model: Path, items: list[Item], rounds: int) -> None:
    peer = load_peer(peer_path, model)
    print(f"{len(items)} summaries of {len({item.article for item in items})} articles")
    articles, summaries = [item.article for item in items], [item.summary for item in items]
    ratios, our_seconds = [], []
    for number in range(1, rounds + 1):
        ours = load_ours("bartscore", model=str(model))
        start = time.process_time()
        found = our_scores(ours, items)
        middle = time.process_time()
        theirs = peer.score(articles, summaries, batch_size=4)
        end = time.process_time()
        difference = max(abs(one - other) for one, other in zip(found, theirs, strict=True))
        our_seconds.append(middle - start)
        ratios.append((end - middle) / (middle - start))
        print(
            f"round {number}: ours {len(items) / (middle - start):.2f} summaries/s, authors' "
            f"{len(items) / (end - middle):.2f}; {ratios[-1]:.2f} times as fast; "
            f"largest difference {difference:.1e}"
        )
        if difference > 1e-5:
            raise SystemExit("the results differ")
    floor = unavoidable_products(model, items) / product_rate(BartConfig.from_pretrained(model).d_model)
    print(
        f"median: {median(ratios):.2f} times as fast (budget 4); the unavoidable products alone take "
        f"{floor:.2f} of {median(our_seconds):.2f} s, {floor / median(our_seconds):.0%}"
    )


if __name__ == "__main__":
    main()
