"""How far bfloat16 moves each evaluator's scores from those in float32.

    python benchmarks/evaluators/precision.py FOLDER_OF_SUMMEVAL

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ}}`. Each evaluator runs on the tests' models: three layers of width 32 with
random weights, the kind of model that rounding moves most. `--model EVALUATOR=FOLDER` takes other weights.
Prints the rows of scoring/evaluators/bases/bfloat16.py: the mean and the largest difference over summaries
and dimensions, and the mean standard deviation of a dimension's scores.

With all-MiniLM-L6-v2 on 16 summaries the largest differences are 0.002 (similarity), 0.0001 (BERTScore),
0.0004 (SUPERT) and 0.0008 (MoverScore). The question-answering baseline moves in jumps: most scores stay as
they are, and where rounding changes an answer, its F1 may be any other.
"""

import argparse
import math
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, pstdev

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from safetensors.torch import load_file, save_file

from benchmarks.evaluators.shared import read_summeval, score
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import EVALUATORS, load_evaluator
from tests.scoring.ctc_model import ctc_model
from tests.scoring.evaluator_settings import required
from tests.scoring.tiny_models import tiny_model

FORMATS = ("float32", "bfloat16")


def values(
    name: str, settings: dict[str, str], precision: str, items: Sequence[Item]
) -> dict[str, list[float]]:
    """Return the scores of each dimension, nan for those that are missing."""
    evaluator_class = load_evaluator(name)
    evaluator = evaluator_class(read_params(evaluator_class, {**settings, "precision": precision}))
    if getattr(evaluator.params, "idf", False):
        evaluator.see_corpus(items)
    scores = score(evaluator, items)
    return {dimension: [each.values[dimension] for each in scores] for dimension in evaluator.dimensions}


def main() -> None:
    transformers.utils.logging.disable_progress_bar()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--articles", type=int, default=2)
    parser.add_argument("--model", action="append", default=[], metavar="EVALUATOR=FOLDER")
    parser.add_argument("--only", nargs="+", help="evaluators; default: all with local models")
    given = parser.parse_args()
    models = dict(each.split("=", 1) for each in given.model)
    items = read_summeval(given.folder, given.articles, references=2, with_sentences=True)
    for name in given.only or with_models():
        settings = {**settings_of(name), **({"model": models[name]} if name in models else {})}
        exact, rounded = (values(name, settings, precision, items) for precision in FORMATS)
        moved, deviations = [], []
        for dimension, scores in exact.items():
            pairs = [
                pair
                for pair in zip(scores, rounded[dimension], strict=True)
                if not any(map(math.isnan, pair))
            ]
            moved += [abs(one - two) for one, two in pairs]
            deviations.append(pstdev(one for one, _ in pairs))
        measured = fmean(moved), max(moved), fmean(deviations)
        table = ", ".join(f"{each:.1g}" for each in measured)
        print(f'    "{name}": Moved({table}),', flush=True)


def with_models() -> list[str]:
    """Return the evaluators that run a model on this machine."""
    return [name for name in EVALUATORS if hasattr(load_evaluator(name).Params, "precision")]


def settings_of(name: str) -> dict[str, str]:
    if name == "ctc":  # the first model's probabilities are all nearly 0
        return {**required(name), "model": str(ctc_model(seed=2)), "relevance_model": ""}
    if name == "qa":
        return {**required(name), "model": str(reader_of_words())}
    if name != "ice":
        return required(name)
    model = str(tiny_model("llama"))
    shown = {"prompt": "described", "examples": "0", "dimensions": "fluency"}
    return {"api": "local_chat", "model": model, "mode": "candidates", **shown}


def reader_of_words() -> Path:
    """Write a model that answers by words, not places: else no two texts give answers with a common word."""
    folder = Path(tempfile.mkdtemp(prefix="tiny-reader-")) / "model"
    shutil.copytree(tiny_model("bert", "ForQuestionAnswering", initializer_range=0.5), folder)
    tensors = load_file(folder / "model.safetensors")
    for name in tensors:
        if "position_embeddings" in name or "token_type_embeddings" in name:
            tensors[name] = torch.zeros_like(tensors[name])
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


if __name__ == "__main__":
    main()
