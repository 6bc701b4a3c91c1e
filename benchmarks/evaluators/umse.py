"""UMSE beside its authors' program, in one run, whole summaries and sentences.

    git clone https://github.com/ZT-Yao/UMSE
    OMP_NUM_THREADS=1 python benchmarks/evaluators/umse.py UMSE PYTHON FOLDER_OF_SUMMEVAL

PYTHON is the interpreter of an environment for the authors' program: torch as here, transformers 4.27.1 as in
its requirements, pytorch-lightning, torchmetrics, pandas, jsonlines, nltk, safetensors. FOLDER_OF_SUMMEVAL
holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ}}`. Both sides have the same weights (`--model FOLDER`, or random ones of the
size asked for, with a tokenizer trained on the texts), sentences and thread. Prints summaries per second of
CPU time, the ratio of both and the largest difference of scores.

On one thread of a busy Xeon, with one article and three rounds: 1.66 times as fast. Matrix products take
about two thirds of our time, so that not much more can be had.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from safetensors.torch import save_file
from tokenizers import ByteLevelBPETokenizer
from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

from benchmarks.evaluators.shared import load_ours, read_summeval, score
from scoring.contract.items import Item

AUTHORS = Path(__file__).with_name("umse_authors.py")
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
VOCABULARY, PREFIX_ROWS, HIDDEN_SIZES = 50265, 128, (3072, 1024)


def random_model(folder: Path, texts: Sequence[str], width: int, layers: int) -> Path:
    """Write a model in the authors' layout, with weights wide enough for scores to differ."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=VOCABULARY, special_tokens=SPECIALS, show_progress=False)
    trained.save_model(str(folder))
    RobertaTokenizer.from_pretrained(folder).save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        max_position_embeddings=514,
        type_vocab_size=1,
        initializer_range=0.05,
    )
    config.save_pretrained(folder)
    torch.manual_seed(0)
    tensors = {
        f"encoder.model.{name}": each + ("LayerNorm" in name) * torch.randn(each.shape) / 5
        for name, each in RobertaModel(config, add_pooling_layer=False).state_dict().items()
    }
    tensors["encoder.prefix_encoder.embedding.weight"] = torch.randn(PREFIX_ROWS, layers * 2 * width)
    tensors["layerwise_attention.gamma"] = torch.ones(1)
    for layer in range(layers + 1):
        tensors[f"layerwise_attention.scalar_parameters.{layer}"] = torch.randn(1)
    sizes = (width, *HIDDEN_SIZES, 2)
    for place, number in enumerate((0, 3, 6)):
        rows, columns = sizes[place + 1], sizes[place]
        tensors[f"estimator.ff.{number}.weight"] = torch.randn(rows, columns) / columns**0.5
        tensors[f"estimator.ff.{number}.bias"] = torch.zeros(rows)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def ours(model: Path, items: Sequence[Item]) -> tuple[float, dict[str, Any]]:
    """Return CPU seconds of fresh evaluators, and scores by scenario and unit."""
    found: dict[str, Any] = {}
    seconds = 0.0
    for scenario, name in (("sum_ref", "hyp-ref"), ("sum_doc", "hyp-src")):
        settings = {"model": str(model), "layer_norm": "as_released", "scenario": scenario}
        evaluator = load_ours("umse", **settings)
        start = time.process_time()
        scored = score(evaluator, items)
        seconds += time.process_time() - start
        found[name] = {
            "whole": [each.values["coherence"] for each in scored],
            "sentences": [each.values["fluency"] for each in scored],
        }
    return seconds, found


def theirs(python: Path, checkout: Path, model: Path, items: Sequence[Item]) -> tuple[float, dict[str, Any]]:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(
            [
                {
                    "summary": item.summary,
                    "sentences": item.summary_sentences,
                    "article": item.article,
                    "reference": item.references[0],
                }
                for item in items
            ],
            file,
        )
        file.flush()
        command = [str(python), str(AUTHORS), str(checkout), str(model), file.name]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    told = json.loads(answer.stdout)
    return told["seconds"], told["scores"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="the authors' repository")
    parser.add_argument("python", type=Path, help="an interpreter that has what the repository needs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    items = read_summeval(given.folder, given.articles, references=1, with_sentences=True)
    texts = [text for item in items for text in (item.article or "", item.summary, *item.references)]
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or random_model(Path(folder), texts, given.width, given.layers)
        compare(given.python, given.checkout, model, items, given.rounds)


def compare(python: Path, checkout: Path, model: Path, items: list[Item], rounds: int) -> None:
    count = sum(len(item.summary_sentences or ()) for item in items)
    print(f"{len(items)} summaries of {len({item.article for item in items})} articles, {count} sentences")
    our_seconds, their_seconds = [], []
    for number in range(1, rounds + 1):
        taken, found = ours(model, items)
        their_taken, expected = theirs(python, checkout, model, items)
        our_seconds.append(taken)
        their_seconds.append(their_taken)
        pairs = [
            (one, two)
            for scenario, units in expected.items()
            for unit, values in units.items()
            for one, two in zip(found[scenario][unit], values, strict=True)
        ]
        spread = max(two for _, two in pairs) - min(two for _, two in pairs)
        print(
            f"round {number}: ours {len(items) / taken:.2f} summaries/s, "
            f"the authors' {len(items) / their_taken:.2f}, ratio {their_taken / taken:.2f}, "
            f"largest difference {max(abs(one - two) for one, two in pairs):.1e} in a spread of {spread:.2f}",
            flush=True,
        )
    print(f"median ratio {median(their_seconds) / median(our_seconds):.2f}")


if __name__ == "__main__":
    main()
