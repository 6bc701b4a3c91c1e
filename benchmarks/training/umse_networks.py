"""The networks that benchmarks/training/umse.py trains, and where their scores are."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCENARIOS = {"sum_ref": "reference", "sum_doc": "article", "sum_doc_ref": "article and reference"}
BY_SENTENCE = {f"{name}, by sentence": f"{title}, sentence by sentence" for name, title in SCENARIOS.items()}
TRAINING: dict[str, Any] = {
    "learning_rate": 1e-3,
    "encoder_rate": 1e-4,
    "schedule": "linear",
    "warmup_share": 0.1,
    "batch_size": 8,
    "epochs": 1,
    "validations": 4,
    "patience": 0,
    "test_share": 0,
    "validation_share": 0.05,
    "pooling": "mean",
    "max_length": 224,
    "prefix_length": 16,
    "attention_dropout": False,
    "precision": "bfloat16",
}
"""Parameters beside the defaults: a small encoder takes larger rates, and a CPU shorter texts."""


@dataclass(frozen=True)
class Network:
    """One training, and the ways in which it scores, of SCENARIOS and BY_SENTENCE."""

    name: str
    title: str
    settings: dict[str, Any] = field(default_factory=dict)
    ways: tuple[str, ...] = ("sum_ref", "sum_doc")
    change: str = "none"
    """A key of CHANGES."""
    more: bool = False
    """It learns from all articles and references at hand."""


_PREFIXES = (
    ("none", "no prefix", {"prefix_length": 0}),
    ("input-perturbed", "in the input, another order for each scenario", {}),
    ("input-shared", "in the input, the same order", {"prefix_sharing": "shared"}),
    ("input-separate", "in the input, one for each scenario", {"prefix_sharing": "separate"}),
    ("keys-perturbed", "as keys, another order for each scenario", {"prefix_form": "keys"}),
    ("keys-shared", "as keys, the same order", {"prefix_form": "keys", "prefix_sharing": "shared"}),
    (
        "keys-separate",
        "as keys, one for each scenario",
        {"prefix_form": "keys", "prefix_sharing": "separate"},
    ),
)
_TRIALS: tuple[tuple[str, str, dict[str, Any], str, bool], ...] = (
    (
        "negatives",
        "three mismatches for each match, batches of 16",
        {"negatives": 3, "batch_size": 16},
        "none",
        False,
    ),
    ("epochs", "three epochs", {"epochs": 3}, "none", False),
    ("rates", "a third of the rates", {"learning_rate": 3e-4, "encoder_rate": 3e-5}, "none", False),
    ("batch", "batches of 32", {"batch_size": 32}, "none", False),
    ("lead", "the paper's matches of three sentences", {"lead": "three"}, "none", False),
    ("random", "mismatches from any article", {}, "random_articles", False),
    ("swapped", "half of a mismatch's sentences replaced", {}, "half_replaced", False),
    ("sentences", "single sentences with the article", {}, "single_sentences", False),
    ("warm", "loss at temperature 2", {}, "temperature_2", False),
    ("cold", "loss at temperature .5", {}, "temperature_half", False),
    ("contrast", "batches of 32, contrast over them added", {"batch_size": 32}, "contrast", False),
    (
        "sharp-contrast",
        "batches of 32, contrast at temperature .2",
        {"batch_size": 32},
        "sharp_contrast",
        False,
    ),
    ("more", "all texts at hand, two references for some", {}, "none", True),
)
"""Name, title, parameters, change, more data; beside the network of `ablation-input-perturbed`."""
_TRIED_WAYS = ("sum_ref", "sum_doc", "sum_doc, by sentence")
GROUPS: dict[str, tuple[Network, ...]] = {
    "main": (Network("main", "one network", {"max_length": 380}, (*SCENARIOS, "sum_doc, by sentence")),),
    "ablation": tuple(Network(f"ablation-{name}", title, settings) for name, title, settings in _PREFIXES),
    "separate": tuple(
        Network(f"separate-{each}", "a network of its own", {"scenarios": each}, (each,))
        for each in SCENARIOS
    ),
    "pairs": (
        Network(
            "pairs-three", "always three sentences", {"scenarios": "sum_ref", "lead": "three"}, ("sum_ref",)
        ),
    ),
    "length": tuple(
        Network(f"length-{rows}", f"{rows} vectors", {"prefix_length": rows}) for rows in (8, 32, 64, 128)
    ),
    "trials": tuple(
        Network(f"trial-{name}", title, settings, _TRIED_WAYS, change, more)
        for name, title, settings, change, more in _TRIALS
    ),
}


class Work:
    """A folder with networks, and the scores of so many test articles."""

    def __init__(self, root: Path, test_articles: int) -> None:
        self._root = root
        self._scores = f"scores-{test_articles}.json"
        root.mkdir(parents=True, exist_ok=True)

    @property
    def baselines(self) -> Path:
        return self._root / f"baselines-{self._scores}"

    def folder(self, network: Network, articles: int, seed: int) -> Path:
        return self._root / f"{network.name}-{articles}-{seed}"

    def scores(self, folder: Path) -> Path:
        return folder / self._scores

    def training(self, folder: Path) -> Path:
        return folder / "training.json"

    def scored(self, network: Network) -> Iterator[tuple[Path, dict[str, list[float]]]]:
        """Yield the folders of a network that have scores, and the scores by scenario."""
        for path in sorted(self._root.glob(f"{network.name}-*/{self._scores}")):
            if path.parent.name.rsplit("-", 2)[0] == network.name:
                yield path.parent, json.loads(path.read_text())
