"""BLANC-help beside its authors' package, in one run.

    pip install --no-deps --target peers blanc==0.3.4
    OMP_NUM_THREADS=1 PYTHONPATH=peers python benchmarks/evaluators/blanc.py FOLDER_OF_SUMMEVAL

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src` and
`sys_summs: {system: {sys_summ}}`. Both sides have the same weights (`--model FOLDER`, or random ones with a
tokenizer trained on the texts), library, thread and sentences. The package takes one input at a time by
default, and more with `--batch`. Random weights guess hardly any word; those made here lean towards frequent
words, so that counts differ from 0. Prints summaries per second of CPU time, their ratio and whether all four
counts of every summary are equal.
"""

import argparse
import math
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.pop(0)  # where this file would stand for the package blanc
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from transformers import BertForMaskedLM, BertTokenizer

from benchmarks.evaluators.shared import bert_config, load_ours, read_summeval
from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.texts.sentences import sentences

VOCABULARY = 30522
SYSTEMS = 16
Counts = tuple[int, int, int, int]
"""Words guessed never, only with the summary, only without it, either way."""


def random_model(folder: Path, texts: Sequence[str], width: int, layers: int) -> Path:
    config = bert_config(folder, texts, width, layers, VOCABULARY)
    tokenizer = BertTokenizer.from_pretrained(folder)
    model = BertForMaskedLM(config)
    tokens = [token for text in texts for token in tokenizer.tokenize(text)]
    frequent = Counter(token for token in tokens if len(token) >= 4 and not token.startswith("##"))
    with torch.no_grad():
        for token, frequency in frequent.most_common(20):
            model.cls.predictions.bias[tokenizer.convert_tokens_to_ids(token)] = 5 + math.log(frequency)
    model.save_pretrained(folder)
    return folder


def load_peer(model: Path, batch: int) -> Any:
    """Load the package with the names that newer versions of transformers lack."""
    for name in ("AdamW", "TransfoXLLMHeadModel", "TransfoXLTokenizer"):
        vars(sys.modules["transformers"]).setdefault(name, None)
    from blanc import blanc as package

    package.sent_tokenize = lambda text: list(sentences(text))
    return package.BlancHelp(
        model_name=str(model),
        measure="relative-counts",
        inference_batch_size=batch,
        show_progress_bar=False,
    )


def our_counts(evaluator: Any, items: Sequence[Item]) -> list[Counts]:
    found = []
    for scored in evaluator.score(items):
        _, gained, lost, both, never = map(int, re.findall(r"\d+", scored.explanations[GENERAL])[:5])
        found.append((never, gained, lost, both))
    return found


def their_counts(peer: Any, items: Sequence[Item]) -> list[Counts]:
    found = peer.eval_pairs([item.article for item in items], [item.summary for item in items])
    return [(*never_and_gained, *lost_and_both) for _, (never_and_gained, lost_and_both) in found]


def compare(model: Path, items: list[Item], rounds: int, batch: int) -> None:
    peer = load_peer(model, batch)
    print(f"{len(items)} summaries of {len({item.article for item in items})} articles")
    ratios = []
    for number in range(1, rounds + 1):
        ours = load_ours("blanc", model=str(model))
        start = time.process_time()
        found = our_counts(ours, items)
        middle = time.process_time()
        theirs = their_counts(peer, items)
        end = time.process_time()
        ratios.append((end - middle) / (middle - start))
        largest = max(
            abs(a - b)
            for one, other in zip(found, theirs, strict=True)
            for a, b in zip(one, other, strict=True)
        )
        print(
            f"round {number}: ours {len(items) / (middle - start):.3f} summaries/s, the package's "
            f"{len(items) / (end - middle):.3f}; {ratios[-1]:.2f} times as fast; largest difference of a "
            f"count {largest}"
        )
        if largest:
            raise SystemExit("the counts differ")
    sums = [sum(each) for each in zip(*found, strict=True)]
    print(
        f"median: {median(ratios):.2f} times as fast; guessed never {sums[0]}, only with the summary "
        f"{sums[1]}, only without it {sums[2]}, either way {sums[3]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=3)
    parser.add_argument("--systems", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1, help="the package's inference_batch_size")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    everything = read_summeval(given.folder, given.articles)
    items = [item for place, item in enumerate(everything) if place % SYSTEMS < given.systems]
    texts = [text for item in items for text in (item.article or "", item.summary)]
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or random_model(Path(folder), texts, given.width, given.layers)
        compare(model, items, given.rounds, given.batch)


if __name__ == "__main__":
    main()
