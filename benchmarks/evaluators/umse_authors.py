"""What the authors of UMSE compute, for benchmarks/evaluators/umse.py, which runs this with their libraries.

    python benchmarks/evaluators/umse_authors.py CHECKOUT MODEL ITEMS

Reads ITEMS, a JSON list of {"summary", "sentences", "article", "reference"}, and scores them one at a time
in the order of the repository's score.py: each summary whole, and its sentences in one batch, against the
reference and against the article. Prints JSON: seconds of CPU time, and scores by scenario and unit.
"""

import contextlib
import json
import sys
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
import torchmetrics
from safetensors.torch import load_file


def load(checkout: Path, folder: Path) -> Any:
    """Load the folder's weights into the authors' model class."""
    # Later versions spell these names otherwise; what they name takes no part in scoring.
    for name in ("PearsonCorr", "SpearmanCorr"):
        setattr(torchmetrics, f"{name}coef", getattr(torchmetrics, f"{name}Coef"))
    sys.path.insert(0, str(checkout))
    from comet.models import RegressionMetric

    tensors = load_file(folder / "model.safetensors")
    model = RegressionMetric(
        encoder_model="PrefixRoBERTa",
        pretrained_model=str(folder),
        pool="cls",
        layer="mix",
        combine_inputs=True,
        hidden_sizes=[len(tensors[f"estimator.ff.{number}.bias"]) for number in (0, 3)],
    )
    unknown = model.load_state_dict(tensors, strict=False)
    if any(not name.endswith(("position_ids", "dropout_mask", "dropout_fill")) for name in unknown[0]):
        raise SystemExit(f"the weights lack some of {unknown[0]}")
    return model.eval()


@torch.no_grad()
def scores(model: Any, scenario: str, summaries: list[str], item: dict[str, Any]) -> list[float]:
    texts = {
        "src": [item["article"]] * len(summaries),
        "mt": summaries,
        "ref": [item["reference"]] * len(summaries),
    }
    inputs = {
        f"{name}_{key}": value
        for name, each in texts.items()
        for key, value in model.encoder.prepare_sample(each).items()
    }
    found: list[float] = (
        model.forward(input_segments=scenario, **inputs)["score"].softmax(dim=1)[:, 1].tolist()
    )
    return found


def main() -> None:
    checkout, folder, path = map(Path, sys.argv[1:])
    items = json.loads(path.read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(sys.stderr):
        model = load(checkout, folder)
        scores(model, "hyp-ref", ["A summary."], {"article": "An article.", "reference": "A reference."})
        start = time.process_time()
        found = {
            scenario: {
                "whole": [scores(model, scenario, [item["summary"]], item)[0] for item in items],
                "sentences": [fmean(scores(model, scenario, item["sentences"], item)) for item in items],
            }
            for scenario in ("hyp-ref", "hyp-src")
        }
        seconds = time.process_time() - start
    json.dump({"seconds": seconds, "scores": found}, sys.stdout)


if __name__ == "__main__":
    main()
