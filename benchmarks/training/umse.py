"""UMSE trained on a small encoder without any rating, and how it agrees with SummEval's experts.

    OMP_NUM_THREADS=1 python benchmarks/training/umse.py DATA ENCODER WORK --jobs 2 > docs/results_umse.md

DATA has the folders summeval, cnndm_llm_summaries, goyal2022 and scitldr; ENCODER is a folder with
all-MiniLM-L6-v2, as in benchmarks/summeval_results.py. Each network and its scores are kept in a folder of
WORK and not made again, and a training that was stopped goes on. `--only GROUP` makes the networks of one
group, `--only length-32` one network, `--only report` none; the report has all that are in WORK. On a CPU the
networks take a day; `--articles 600 --seeds 1` tries them on little data.
"""

import argparse
import gzip
import json
import multiprocessing
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from annotation.declared.settings import read_settings
from benchmarks.summeval_results import measure, read_rows
from benchmarks.training.umse_changes import CHANGES
from benchmarks.training.umse_networks import BY_SENTENCE, GROUPS, TRAINING, Network, Work
from benchmarks.training.umse_report import report
from scoring.contract.items import Item
from scoring.trainers import load_trainer
from scoring.trainers.contract import Point, TrainingItem
from scoring.trainers.loop import CHECKPOINTS
from scoring.weights.model_card import read_card

BASELINES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("ROUGE-1, first reference", "rouge", {"variant": "1", "stem": "yes", "references": "first"}),
    ("ROUGE-L, first reference", "rouge", {"variant": "L", "stem": "yes", "references": "first"}),
    ("BERTScore F1, layer 6, first reference", "bertscore", {"layer": "6", "references": "first"}),
    ("BERTScore F1, layer 6, against the article", "bertscore", {"layer": "6", "against": "article"}),
    ("SUPERT, top 15 sentences", "supert", {}),
)
ORIGIN = "cnndm_llm_summaries, goyal2022, scitldr"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("work", type=Path)
    names = [network.name for networks in GROUPS.values() for network in networks]
    parser.add_argument("--only", choices=[*GROUPS, *names, "baselines", "report"], action="append")
    parser.add_argument("--articles", type=int, default=3000, help="to train each network")
    parser.add_argument("--test-articles", type=int, default=100, help="of SummEval")
    parser.add_argument("--seeds", type=int, default=3, help="networks of each setting")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once")
    given = parser.parse_args()
    wanted = given.only or [*GROUPS, "baselines"]
    rows = read_rows(given.data / "summeval")[: given.test_articles]
    bench = Bench(given.work, given.encoder, given.data, given.test_articles, given.articles)
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool:
        started = [pool.submit(bench.score_baselines)] if "baselines" in wanted else []
        started += [
            pool.submit(bench.train_and_score, network, seed)
            for seed in range(given.seeds)
            for group, networks in GROUPS.items()
            for network in networks
            if not {group, network.name}.isdisjoint(wanted)
        ]
        for each in started:
            each.result()
    sys.stdout.write(report(bench.work, rows))


@cache
def training_items(data: Path, more: bool = False) -> list[list[TrainingItem]]:
    """Return the articles of each source with their references, without those of SummEval.

    `more` adds the summaries by GPT-3 as second references, and SciTLDR's other parts.
    """
    tested = read_rows(data / "summeval")
    ids = {row["id"].rpartition("-")[2] for row in tested}
    beginnings = {letters(row["src"]) for row in tested}
    sources = [list(cnndm(data, more)), list(goyal(data)), list(scitldr(data, more))]
    return [
        [each for each in found if each.id not in ids and letters(each.article) not in beginnings]
        for found in sources
    ]


def letters(text: str) -> str:
    """Return the first letters and digits. SummEval's articles were tokenised, so their digests differ."""
    return "".join(each for each in text.lower() if each.isalnum())[:300]


def cnndm(data: Path, more: bool) -> Iterator[TrainingItem]:
    folder = data / "cnndm_llm_summaries"
    others = lines(folder / "gpt3.train.jsonl.gz")
    second = {row["article"]: [row["abstract"]] for row in others} if more else {}
    for number, row in enumerate(lines(folder / "gpt4.train.jsonl.gz")):
        references = [row["abstract"], *second.get(row["article"], [])]
        yield training_item(f"cnndm-{number}", row["article"], references)


def goyal(data: Path) -> Iterator[TrainingItem]:
    for name in ("cnn", "dm"):
        with gzip.open(data / "goyal2022" / f"test-500.{name}.json.gz", "rt", encoding="utf-8") as file:
            for row in json.load(file).values():
                yield training_item(row["id"], row["article"], [row["reference"]])


def scitldr(data: Path, more: bool) -> Iterator[TrainingItem]:
    for part in ("train", "dev", "test") if more else ("train",):
        for row in lines(data / "scitldr" / f"SciTLDR-A.{part}.jsonl.gz"):
            yield training_item(row["paper_id"], " ".join(row["source"]), row["target"])


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def training_item(identifier: str, article: str, references: list[str]) -> TrainingItem:
    return TrainingItem(identifier, identifier, article, "", tuple(references), "en")


class Progress:
    """Prints the curve of a training to standard error."""

    def report(self, point: Point) -> None:
        measures = "".join(f", {name} {value:.3f}" for name, value in point.measures.items())
        loss = f"loss {point.loss:.3f}" if point.loss is not None else ""
        print(f"  step {point.step} {loss}{measures}", file=sys.stderr, flush=True)

    def is_cancelled(self) -> bool:
        return False


class Bench:
    """Makes what is missing in a work folder."""

    def __init__(self, work: Path, encoder: Path, data: Path, test_articles: int, articles: int) -> None:
        self.work = Work(work, test_articles)
        self._encoder = encoder
        self._data = data
        self._test_articles = test_articles
        self._articles = articles

    def train_and_score(self, network: Network, seed: int) -> None:
        """Train the network, with as many articles from each source, and score SummEval with it."""
        folder = self.work.folder(network, self._articles, seed)
        path = self.work.scores(folder)
        scores = json.loads(path.read_text()) if path.exists() else {}
        if scores.keys() >= set(network.ways):
            return
        print(f"{folder.name}: {network.title}", file=sys.stderr)
        if not (folder / "model").exists():
            self._train(network, seed, folder)
        missing = [each for each in network.ways if each not in scores]
        scores |= {each: self._scored(folder / "model", each) for each in missing}
        path.write_text(json.dumps(scores))

    def _train(self, network: Network, seed: int, folder: Path) -> None:
        sources = training_items(self._data, network.more)
        share = None if network.more else self._articles // len(sources)
        trainer_class = load_trainer("umse")
        settings = {"model": str(self._encoder), **TRAINING, **network.settings, "seed": seed}
        trainer = trainer_class(read_settings(trainer_class.Params, settings, of="umse"))
        with CHANGES[network.change]():
            data = trainer.prepare([item for source in sources for item in source[:share]])
            trainer.train(data, folder, Progress(), ORIGIN)
        card = read_card(folder / "model")
        assert card is not None
        self.work.training(folder).write_text(
            json.dumps({"data": card.data, "trained_with": card.trained_with, "measures": card.measures})
        )
        shutil.rmtree(folder / CHECKPOINTS)

    def score_baselines(self) -> None:
        path = self.work.baselines
        if not path.exists():
            found = {
                name: measure(name, evaluator, settings, self._encoder, self._items).scores.tolist()
                for name, evaluator, settings in BASELINES
            }
            path.write_text(json.dumps(found))

    @property
    def _items(self) -> list[Item]:
        return [
            Item(
                f"{row['id']}/{system}",
                each["sys_summ"],
                "en",
                row["src"],
                tuple(row["ref_summs"][:1]),
                row["id"],
            )
            for row in read_rows(self._data / "summeval")[: self._test_articles]
            for system, each in row["sys_summs"].items()
        ]

    def _scored(self, model: Path, way: str) -> list[float]:
        granularity = "sentences" if way in BY_SENTENCE else "whole"
        settings = {"scenario": way.partition(",")[0], "fusion": "none", "granularity": granularity}
        scores: list[float] = measure(way, "umse", settings, model, self._items).scores.tolist()
        return scores


if __name__ == "__main__":
    main()
