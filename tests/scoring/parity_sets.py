"""Reading the golden numbers of one metric: the values of its authors' program on made-up texts."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from scoring.contract.evaluator import Evaluator
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.files.examples import read_examples


class ParitySet(NamedTuple):
    """`items` and `expected["items"]` are in the same order."""

    folder: Path
    expected: dict[str, Any]
    items: list[Item]


def parity_set(shared: Path, name: str) -> ParitySet:
    folder = shared / "parity" / name
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    items = [each.item for each in read_examples(folder / "inputs.jsonl")]
    assert [each["id"] for each in expected["items"]] == [item.id for item in items]
    return ParitySet(folder, expected, items)


def evaluator_with(name: str, settings: dict[str, Any]) -> Evaluator:
    evaluator_class = load_evaluator(name)
    return evaluator_class(read_params(evaluator_class, settings))
