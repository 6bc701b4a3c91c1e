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

    def cpu_seconds(self, folder: Path) -> Path:
        return folder / "cpu_seconds"

    def scored(self, network: Network) -> Iterator[tuple[Path, dict[str, list[float]]]]:
        """Yield the folders of a network that have scores, and the scores by scenario."""
        for path in sorted(self._root.glob(f"{network.name}-*/{self._scores}")):
            if path.parent.name.rsplit("-", 2)[0] == network.name:
                yield path.parent, json.loads(path.read_text())
