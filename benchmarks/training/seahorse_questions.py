"""Questions about summaries with people's answers, read for the tables of trained SEAHORSE metrics."""

import csv
import gzip
import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean

import numpy as np

from annotation.texts.text_digests import text_digest
from scoring.trainers.contract import TrainingItem

YES_FROM = 3
"""A mean of DailyNews' raters, from 0 to 4, that counts as yes."""
MOST = math.nextafter(0.5, 1)
"""A mean of answers, yes = 1 and no = 0, that counts as yes: more than half said yes."""
_DAILYNEWS = (
    "DailyNews (Vasilyev et al. 2020): news articles with three summaries each, rated by 9 or 10 people from "
    "0 to 4."
)
DAILYNEWS = f"{_DAILYNEWS} Yes is a mean of at least {YES_FROM}."
DAILYNEWS_MAJORITY = (
    f"{_DAILYNEWS} Here a rater says yes by giving at least {YES_FROM}, and the label is yes if most raters "
    "do. Soft targets are the share of raters who say yes."
)
SUMMEVAL_YES_FROM = {"coherence": 4, "consistency": 5, "fluency": 5, "relevance": 4}
"""Means of SummEval's experts, from 1 to 5, that count as yes: the balance of the labels chose them."""
SUMMEVAL = (
    "SummEval (Fabbri et al. 2021): articles of CNN/DailyMail with summaries by 12 abstractive systems, each "
    "rated by three experts from 1 to 5. Yes is a mean of at least 4 for coherence and relevance, and of 5 "
    "for consistency and fluency, where almost every mean is at least 4. These thresholds were chosen by the "
    "balance of the labels alone, before any training."
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
    data: str
    """The data set, a slug: equal for equal items."""
    ratings: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    """Question -> the ratings of each summary, one for each rater; empty if there is only the label."""
    yes_from: Mapping[str, float] = field(default_factory=dict)
    """Question -> the mean rating that counts as yes."""

    def labels(self, name: str) -> np.ndarray:
        return np.array([item.labels[name] for item in self.items])

    @property
    def articles(self) -> np.ndarray:
        """Return a number for the article of each summary."""
        return np.unique([text_digest(each.article) for each in self.items], return_inverse=True)[1]

    def of_articles(self, count: int | None) -> "Questions":
        """Return the questions about the first articles."""
        kept = [place for place, each in enumerate(self.articles) if count is None or each < count]
        return replace(
            self,
            items=[self.items[place] for place in kept],
            ratings={name: [each[place] for place in kept] for name, each in self.ratings.items()},
        )

    def with_soft_targets(self) -> "Questions":
        """Return the same with means of the ratings, which are from 0 to 1, as labels."""
        items = [
            replace(item, labels={name: mean(self.ratings[name][place]) for name in self.names})
            for place, item in enumerate(self.items)
        ]
        return replace(self, items=items)


def informative(data: Path) -> Questions:
    return Questions(
        ("informative",),
        "Informative (DailyNews)",
        DAILYNEWS,
        dailynews_items(data),
        "dailynews",
        {"informative": dailynews_ratings(data, "Informative", float)},
        {"informative": YES_FROM},
    )


def informative_to_most(data: Path) -> Questions:
    ratings = dailynews_ratings(data, "Informative", lambda score: float(score >= YES_FROM))
    items = [
        replace(item, labels={"informative": float(mean(each) >= MOST)})
        for item, each in zip(dailynews_items(data), ratings, strict=True)
    ]
    return Questions(
        ("informative",),
        "Informative to most raters (DailyNews)",
        DAILYNEWS_MAJORITY,
        items,
        "dailynews",
        {"informative": ratings},
        {"informative": MOST},
    )


def five_questions(data: Path) -> Questions:
    items = dailynews_items(data)
    return Questions(tuple(items[0].labels), "DailyNews, five questions", DAILYNEWS, items, "dailynews")


def dailynews_rows(data: Path) -> list[dict]:
    path = data / "blanc_dailynews" / "DailyNews_300_aspects.json"
    rows: list[dict] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def dailynews_ratings(data: Path, question: str, number: Callable[[int], float]) -> list[list[float]]:
    """Return each rater's number for each summary; the mean where somebody rated it twice."""
    found = []
    for row in dailynews_rows(data):
        answers, own = row["map_quality_scores"][question], defaultdict(list)
        for rater, score in zip(answers["annotators_ids"], answers["scores"], strict=True):
            own[rater].append(number(score))
        found.append([mean(own[rater]) for rater in sorted(own)])
    return found


def dailynews_items(data: Path) -> list[TrainingItem]:
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
        for place, row in enumerate(dailynews_rows(data))
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
    return Questions(
        ("attribution",),
        "Attribution (XSum)",
        XSUM,
        items,
        "xsum",
        {
            "attribution": [
                [float(not each) for each in marked.values()] for _, marked in sorted(spans.items())
            ]
        },
        {"attribution": MOST},
    )


def summeval(data: Path) -> Questions:
    path = data / "summeval" / "model_annotations.aligned.paired.12systems.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    ratings = {
        name: [[float(expert[name]) for expert in row["expert_annotations"]] for row in rows]
        for name in SUMMEVAL_YES_FROM
    }
    items = [
        TrainingItem(
            f"{row['id']}/{row['model_id']}",
            row["id"],
            row["text"],
            row["decoded"],
            language="en",
            labels={
                name: float(mean(ratings[name][place]) >= least) for name, least in SUMMEVAL_YES_FROM.items()
            },
        )
        for place, row in enumerate(rows)
    ]
    title = "SummEval, four questions"
    return Questions(tuple(SUMMEVAL_YES_FROM), title, SUMMEVAL, items, "summeval", ratings, SUMMEVAL_YES_FROM)
