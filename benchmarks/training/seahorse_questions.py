"""Questions about summaries with people's answers, read for the tables of trained SEAHORSE metrics."""

import csv
import gzip
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from annotation.texts.text_digests import text_digest
from scoring.trainers.contract import TrainingItem

YES_FROM = 3
"""A mean of DailyNews' raters, from 0 to 4, that counts as yes."""
DAILYNEWS = (
    "DailyNews (Vasilyev et al. 2020): news articles with three summaries each, rated by 9 or 10 people from "
    f"0 to 4. Yes is a mean of at least {YES_FROM}."
)
XSUM = (
    "XSum (Maynez et al. 2020): those articles whose texts are at hand, with five summaries each. Yes means "
    "that most annotators marked no hallucinated span. **These articles are too few to compare evaluators, "
    "so read no ranking from the table.**"
)


@dataclass(frozen=True)
class Questions:
    """Summaries with answers of yes and no to the same questions."""

    names: tuple[str, ...]
    title: str
    about: str
    items: list[TrainingItem]

    def labels(self, name: str) -> np.ndarray:
        return np.array([item.labels[name] for item in self.items])

    @property
    def articles(self) -> np.ndarray:
        """Return a number for the article of each summary."""
        return np.unique([text_digest(each.article) for each in self.items], return_inverse=True)[1]


def informative(data: Path) -> Questions:
    return Questions(("informative",), "Informative (DailyNews)", DAILYNEWS, dailynews_items(data))


def five_questions(data: Path) -> Questions:
    items = dailynews_items(data)
    return Questions(tuple(items[0].labels), "DailyNews, five questions", DAILYNEWS, items)


def dailynews_items(data: Path) -> list[TrainingItem]:
    rows = json.loads((data / "blanc_dailynews" / "DailyNews_300_aspects.json").read_text(encoding="utf-8"))
    return [
        TrainingItem(
            f"{place:03}",
            text_digest(row["text"]),
            row["text"],
            row["summary"],
            language="en",
            labels={
                name.lower(): float(mean(answers["scores"]) >= YES_FROM)
                for name, answers in row["map_quality_scores"].items()
            },
        )
        for place, row in enumerate(rows)
    ]


def attribution(data: Path) -> Questions:
    with gzip.open(data / "goyal2022" / "test-500.xsum.json.gz", "rt", encoding="utf-8") as file:
        articles = {each["id"]: each["article"] for each in json.load(file).values()}
    spans: dict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    path = data / "xsum_hallucination" / "hallucination_annotations_xsum_summaries.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["bbcid"] in articles:
                marked = spans[row["bbcid"], row["system"], row["summary"]]
                found = row["hallucination_type"] != "NULL"
                marked[row["worker_id"]] = marked.get(row["worker_id"], False) or found
    items = [
        TrainingItem(
            f"{article}/{system}",
            article,
            articles[article],
            summary,
            language="en",
            labels={"attribution": float(sum(marked.values()) < len(marked) / 2)},
        )
        for (article, system, summary), marked in sorted(spans.items())
    ]
    return Questions(("attribution",), "Attribution (XSum)", XSUM, items)
