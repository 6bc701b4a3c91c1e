"""BERTScore beside its authors' package bert-score, in one run, on the same weights, library and thread.

    python -m pip install bert-score==0.3.13
    OMP_NUM_THREADS=1 python benchmarks/evaluators/bertscore.py FOLDER_OF_SUMMEVAL --model FOLDER --layer 6

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ}}`. Without `--model` the weights are random, of the size asked for, with a
tokenizer trained on the texts. Both sides have loaded their models before the time is taken. The package
gets all pairs in one call, in the order of articles, which is its best, and then a call for each system, as
scripts do; ours gets the items 128 at a time, as a worker does, in the order of articles and of systems.
Prints summaries per second of CPU time, medians of the rounds, the ratios, the largest difference of f1, and
how much of our time the matrix products of the encoder take at the rate at which this machine multiplies.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import transformers
from bert_score import BERTScorer
from transformers import AutoConfig, AutoTokenizer

from benchmarks.evaluators.shared import load_ours, product_rate, random_bert, read_summeval, score, timed
from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item

TASKS = {
    "first reference": {"references": "first"},
    "all references": {"references": "max"},
    "article": {"against": "article"},
}
"""What summaries are compared with -> our parameters."""
Scores = dict[str, float]
"""Item -> f1."""


def targets(item: Item, task: str) -> list[str]:
    if task == "article":
        return [item.article or ""]
    return list(item.references[:1] if task == "first reference" else item.references)


def load_bertscore(model: Path, layer: int, task: str) -> Any:
    """Return an evaluator with its model loaded and no text of the benchmark seen."""
    # Under version 5 of transformers the package reads the first word of RoBERTa without its space.
    return load_ours("bertscore", model=str(model), layer=layer, first_word="bare", **TASKS[task])


def our_scores(evaluator: Any, items: Sequence[Item]) -> Scores:
    scores = score(evaluator, items)
    return {item.id: scored.values[GENERAL] for item, scored in zip(items, scores, strict=True)}


def their_scores(peer: BERTScorer, calls: Sequence[Sequence[Item]], task: str) -> Scores:
    found: Scores = {}
    for items in calls:
        f1 = peer.score([item.summary for item in items], [targets(item, task) for item in items])[2]
        found |= zip([item.id for item in items], f1.tolist(), strict=True)
    return found


def encoders_products(model: Path, layer: int, items: Sequence[Item], task: str) -> float:
    """Return the floating-point operations of the matrix products of the encoder, each distinct text once."""
    config, tokenizer = AutoConfig.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    width, wide = config.hidden_size, config.intermediate_size
    texts = {text for item in items for text in (item.summary, *targets(item, task))}
    lengths = [len(ids) for ids in tokenizer(list(texts), truncation=True)["input_ids"]]
    return 2.0 * layer * sum(each * (4 * width**2 + 2 * width * wide + 2 * each * width) for each in lengths)


def compare(task: str, model: Path, layer: int, items: list[Item], rounds: int) -> None:
    peer = BERTScorer(model_type=str(model), num_layers=layer, device="cpu")
    systems = list(dict.fromkeys(item.id.rpartition("/")[2] for item in items))
    by_system = [[item for item in items if item.id.endswith(f"/{system}")] for system in systems]
    ordered_by_system = [item for call in by_system for item in call]
    seconds: dict[str, list[float]] = {}
    rates = []
    difference = 0.0
    for _ in range(rounds):
        found = {
            "ours": timed(our_scores, load_bertscore(model, layer, task), items),
            "ours by system": timed(our_scores, load_bertscore(model, layer, task), ordered_by_system),
            "one call": timed(their_scores, peer, [items], task),
            "a call per system": timed(their_scores, peer, by_system, task),
        }
        rates.append(product_rate(AutoConfig.from_pretrained(model).hidden_size, rows=2048))
        for name, (taken, scores) in found.items():
            seconds.setdefault(name, []).append(taken)
            difference = max(difference, *(abs(scores[key] - f1) for key, f1 in found["ours"][1].items()))
    taken = {name: median(each) for name, each in seconds.items()}
    floor = encoders_products(model, layer, items, task) / median(rates)
    print(f"{task}: largest difference {difference:.1e}")
    print("    summaries/s: " + ", ".join(f"{name} {len(items) / each:.1f}" for name, each in taken.items()))
    print(
        f"    {taken['one call'] / taken['ours']:.2f} times as fast as one call, "
        f"{taken['a call per system'] / taken['ours']:.1f} times as a call per system "
        f"({taken['a call per system'] / taken['ours by system']:.1f} with ours by system)"
    )
    print(
        f"    {floor / taken['ours']:.0%} of our time are the encoder's products "
        f"at {median(rates) / 1e9:.0f} GFLOP/s",
        flush=True,
    )
    if difference > 1e-5:
        raise SystemExit("the scores differ")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--layer", type=int, help="default: the last")
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    given = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    items = read_summeval(given.folder, given.articles, references=None)
    texts = [text for item in items for text in (item.article or "", item.summary, *item.references)]
    print(f"{len(items)} summaries of {given.articles} articles; medians of {given.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or random_bert(Path(folder), texts, given.width, given.layers)
        layer = AutoConfig.from_pretrained(model).num_hidden_layers if given.layer is None else given.layer
        for task in given.tasks:
            compare(task, model, layer, items, given.rounds)


if __name__ == "__main__":
    main()
