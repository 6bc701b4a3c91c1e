"""MoverScore beside its authors' programs, in one run, on the same weights, library and thread.

    git clone https://github.com/AIPHES/emnlp19-moverscore; pip install pyemd==1.1.0
    OMP_NUM_THREADS=1 python benchmarks/evaluators/moverscore.py emnlp19-moverscore FOLDER_OF_SUMMEVAL

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ}}`. Without `--model` the weights are random, of the size asked for, with a
tokenizer trained on the texts. Both sides have loaded their models before the time is taken, which counts
document frequencies, encodes and compares. Theirs get all pairs in one call, in the order of articles, in
batches of 48 as their scripts have them; ours gets summaries 128 at a time, as a worker does. Of their files
only what keeps them from running here is changed: the device, a name that numpy has dropped, the loading of
the first one's model by a library of its time, and several processes where the time of one is taken. Prints
pairs per second of CPU time, medians of the rounds, the ratio and the largest difference of scores.
"""

import argparse
import os
import string
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from math import log
from pathlib import Path
from statistics import fmean, median
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import torch
import transformers
from pyemd import emd
from transformers import AutoModel, AutoTokenizer

from benchmarks.evaluators.shared import random_bert, read_summeval, score, timed
from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.neural import moverscore
from scoring.neural.encoder import Encoder
from scoring.neural.tokens import TextTokenizer

LARGEST = 1e-5
BATCH = 48
BUDGETS = {"first": 3, "mean": 15}
"""Which references count -> how many times as fast ours is to be."""
Scores = list[float]


class OneProcess:
    """In place of a pool of processes, whose time would not be counted."""

    def __init__(self, processes: int) -> None:
        del processes

    def __enter__(self) -> "OneProcess":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def map(self, work: Callable[[Any], Any], given: Iterable[Any]) -> list[Any]:
        return [work(each) for each in given]


class BlocksAlone:
    """The encoder as the first program calls it: all blocks' outputs, without the embeddings'."""

    def __init__(self, model: Path) -> None:
        self._model = AutoModel.from_pretrained(model).eval()

    def eval(self) -> None:
        return None

    def __call__(self, ids: Any, types: Any, attention_mask: Any, **_: object) -> tuple[Any, None]:
        states = self._model(ids, attention_mask, types, output_hidden_states=True).hidden_states
        return states[1:], None


def load_theirs(checkout: Path, form: str, model: Path) -> ModuleType:
    path = checkout / {"v1": "moverscore.py", "v2": "moverscore_v2.py"}[form]
    source = path.read_text(encoding="utf-8")
    peer = ModuleType(path.stem)
    if form == "v1":
        source = source[source.index("def truncate") :]
        tools = (np, torch, string, emd, log, chain, Counter, defaultdict, partial)
        peer.__dict__.update({tool.__name__: tool for tool in tools}, np=np, device="cpu")
        peer.__dict__["tokenizer"] = AutoTokenizer.from_pretrained(model)
        peer.__dict__["model"] = BlocksAlone(model)
    else:
        os.environ["MOVERSCORE_MODEL"] = str(model)
        source = source[: source.index("import matplotlib")]
        source = source.replace("np.float)", "float)").replace("device = 'cuda'", "device = 'cpu'")
    exec(compile(source, path, "exec"), peer.__dict__)
    peer.__dict__["Pool"] = OneProcess
    return peer


def chosen(item: Item, references: str) -> tuple[str, ...]:
    return item.references[:1] if references == "first" else item.references


def their_scores(peer: ModuleType, items: Sequence[Item], references: str) -> Scores:
    pairs = [(text, item.summary) for item in items for text in chosen(item, references)]
    texts, summaries = zip(*pairs, strict=True)
    by_article = {item.article_id: chosen(item, references) for item in items}
    scores = iter(
        peer.word_mover_score(
            texts,
            summaries,
            peer.get_idf_dict(list(chain.from_iterable(by_article.values()))),
            peer.get_idf_dict([item.summary for item in items]),
            batch_size=BATCH,
            device="cpu",
        )
    )
    return [fmean(float(next(scores)) for _ in chosen(item, references)) for item in items]


def our_scores(settings: dict[str, str], items: Sequence[Item]) -> Scores:
    evaluator_class = load_evaluator("moverscore")
    evaluator = evaluator_class(read_params(evaluator_class, settings))
    evaluator.see_corpus(items)
    return [scored.values[GENERAL] for scored in score(evaluator, items)]


def compare(
    peer: ModuleType,
    encoder: Encoder,
    model: Path,
    form: str,
    references: str,
    items: list[Item],
    rounds: int,
) -> None:
    settings = {"model": str(model), "form": form, "references": references}
    our_seconds, their_seconds = [], []
    difference = 0.0
    for _ in range(rounds):
        encoder.tokens = TextTokenizer(model)
        taken, ours = timed(our_scores, settings, items)
        our_seconds.append(taken)
        taken, theirs = timed(their_scores, peer, items, references)
        their_seconds.append(taken)
        difference = max(difference, *(abs(one - two) for one, two in zip(ours, theirs, strict=True)))
    pairs = sum(len(chosen(item, references)) for item in items)
    us, them = median(our_seconds), median(their_seconds)
    print(
        f"{form}, {pairs // len(items)} references: ours {pairs / us:.1f} pairs/s, "
        f"theirs {pairs / them:.1f}; {them / us:.1f} times as fast (budget {BUDGETS[references]}); "
        f"largest difference {difference:.1e}; scores from {min(ours):.3f} to {max(ours):.3f}",
        flush=True,
    )
    if difference > LARGEST:
        raise SystemExit("the scores differ")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--forms", nargs="+", choices=("v1", "v2"), default=["v2", "v1"])
    parser.add_argument("--references", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    given = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    items = read_summeval(given.folder, given.articles, references=None)
    texts = [text for item in items for text in (item.summary, *item.references)]
    print(f"{len(items)} summaries of {given.articles} articles; medians of {given.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or random_bert(Path(folder), texts, given.width, given.layers)
        encoder = Encoder(model)
        moverscore.Encoder = lambda *_: encoder
        for form in given.forms:
            peer = load_theirs(given.checkout, form, model)
            for references in given.references:
                compare(peer, encoder, model, form, references, items, given.rounds)


if __name__ == "__main__":
    main()
