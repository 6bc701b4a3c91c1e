"""What the benchmarks of evaluators share: SummEval, loaded evaluators, times and rates."""

import gzip
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import torch

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.texts.sentences import sentences

Found = TypeVar("Found")


def read_summeval(
    folder: Path, articles: int | None = None, *, references: int = 0, with_sentences: bool = False
) -> list[Item]:
    """Return SummEval's items, article by article; an id is article/system. Articles None means all."""
    with gzip.open(folder / "expert_means.16systems.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file][:articles]
    return [
        Item(
            f"{row['id']}/{name}",
            each["sys_summ"],
            article=row["src"],
            references=tuple(row["ref_summs"][:references]),
            article_id=row["id"],
            summary_sentences=sentences(each["sys_summ"]) if with_sentences else None,
        )
        for row in rows
        for name, each in row["sys_summs"].items()
    ]


def load_ours(name: str, **settings: object) -> Any:
    """Return an evaluator with its model loaded and no text of the benchmark seen."""
    evaluator_class = load_evaluator(name)
    evaluator = evaluator_class(read_params(evaluator_class, settings))
    evaluator.score([Item("to load", "A summary.", article="An article about it.", references=("One.",))])
    return evaluator


def score(evaluator: Any, items: Sequence[Item]) -> list[Any]:
    """Return the evaluator's results in batches of its size."""
    size = evaluator.batch_size
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    return [scored for batch in batches for scored in evaluator.score(batch)]


def timed(work: Callable[..., Found], *arguments: object) -> tuple[float, Found]:
    """Return the CPU seconds and the result."""
    start = time.process_time()
    found = work(*arguments)
    return time.process_time() - start, found


def product_rate(width: int, rows: int = 1024) -> float:
    """Return the floating-point operations per CPU second in a product of the model's matrix size."""
    one, other = torch.rand(rows, width), torch.rand(width, 4 * width)
    seconds = [timed(torch.matmul, one, other)[0] for _ in range(50)]
    return 2 * rows * width * 4 * width / median(seconds)
