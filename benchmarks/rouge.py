"""ROUGE beside the package rouge-score, in one run: `python benchmarks/rouge.py FOLDER_OF_SUMMEVAL`.

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ}}`. Prints, for each task, the largest difference of the results, the median
seconds of both and their ratio, and which budget it stands against.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean, median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rouge_score.rouge_scorer import RougeScorer

from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator

VARIANTS = ("1", "2", "L")
Results = list[list[float]]
"""Per variant, one number per item."""


def read_items(folder: Path, articles: int, systems: int) -> list[Item]:
    with gzip.open(folder / "expert_means.16systems.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file][:articles]
    return [
        Item(f"{row['id']}/{name}", each["sys_summ"], article=row["src"], references=tuple(row["ref_summs"]))
        for row in rows
        for name, each in list(row["sys_summs"].items())[:systems]
    ]


def ours(items: Sequence[Item], variants: Sequence[str], stem: bool, **settings: str) -> Results:
    """Score texts with new evaluators."""
    rouge = load_evaluator("rouge")
    evaluators = [rouge(read_params(rouge, {"variant": each, "stem": stem, **settings})) for each in variants]
    return [[scored.values[GENERAL] for scored in each.score(items)] for each in evaluators]


def theirs(items: Sequence[Item], variants: Sequence[str], stem: bool, **settings: str) -> Results:
    names = [f"rouge{each}" for each in variants]
    scorer = RougeScorer(names, use_stemmer=stem)
    results: Results = [[] for _ in variants]
    for item in items:
        targets = [item.article or ""] if settings.get("against") == "article" else item.references
        targets = targets[:1] if settings.get("references") == "first" else targets
        scores = [scorer.score(target, item.summary) for target in targets]
        for result, name in zip(results, names, strict=True):
            f1 = [each[name].fmeasure for each in scores]
            result.append(fmean(f1) if settings.get("references") == "mean" else max(f1))
    return results


def timed(work: Callable[..., Results], *arguments: object, **settings: str) -> tuple[float, Results]:
    start = time.process_time()
    results = work(*arguments, **settings)
    return time.process_time() - start, results


def compare(
    task: str, budget: str, rounds: int, items: list[Item], variants: Sequence[str], **settings: str
) -> None:
    for stem in (False, True):
        our_seconds, their_seconds = [], []
        for _ in range(rounds):
            taken, our_results = timed(ours, items, variants, stem, **settings)
            our_seconds.append(taken)
            taken, their_results = timed(theirs, items, variants, stem, **settings)
            their_seconds.append(taken)
        pairs = zip(chain(*our_results), chain(*their_results), strict=True)
        difference = max(abs(one - two) for one, two in pairs)
        ratio = median(their_seconds) / median(our_seconds)
        print(
            f"{task}, {'stemmed' if stem else 'not stemmed'}: largest difference {difference:.1e}; "
            f"ours {median(our_seconds):.4f} s, "
            f"rouge-score {median(their_seconds):.3f} s; {ratio:.0f} times as fast ({budget})"
        )
        if difference > 1e-9:
            raise SystemExit("the results differ")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--articles", type=int, default=100)
    given = parser.parse_args()
    by_system = read_items(given.folder, given.articles, 16)
    one_each = read_items(given.folder, given.articles, 1)
    references = len(by_system[0].references)
    print(f"{len(by_system)} summaries, {references} references; medians of {given.rounds} rounds")
    for task, items in (("one summary an article", one_each), ("every summary", by_system)):
        compare(
            f"ROUGE-L against the article, {task}", "budget 50", given.rounds, items, ["L"], against="article"
        )
        one = {"references": "first"}
        compare(f"ROUGE-1/2/L, one reference, {task}", "no budget", given.rounds, items, VARIANTS, **one)
    for which in ("max", "mean"):
        task = f"ROUGE-1/2/L, {which} over the references"
        compare(task, "budget 40", given.rounds, by_system, VARIANTS, references=which)


if __name__ == "__main__":
    main()
