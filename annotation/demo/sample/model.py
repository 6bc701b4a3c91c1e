"""The declared model that simulates the sample's ratings and scores. Pure; nobody gave any of them.

A summary's true answers follow from how it was made. A rater answers Yes with the probability

    sigmoid(leaning + sensitivity * SENSITIVITY[question] * (+-1 + shade))

where +-1 is the true answer and `shade`, a normal deviate, is the same for all raters of a summary. A
careless answer ignores the summary. A judge's score is sigmoid(SHARPNESS * (+-1 + its own noise)).
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from pathlib import Path
from random import Random
from typing import Any

from annotation.protocol import SEAHORSE, Sheet, open_questions

FOLDER = Path(__file__).resolve().parent
SEED = 2138
QUESTIONS = tuple(question.key for question in SEAHORSE.questions)
SENSITIVITY = dict(zip(QUESTIONS, (3.6, 3.2, 2.8, 2.2, 1.9, 1.4), strict=True))  # log-odds
SHADE = 0.35
UNSURE = 0.02  # share of answers

RATED = 0.55  # share of the summaries that have ratings so far
INCOMPLETE = 0.08  # share of these, the latest, that still lack one rating of three
DAYS = (3, 5, 6, 4, 6, 2, 1, 5, 6, 7, 5, 4)
"""The work of each day before today, the oldest first, in relation to the others."""
FIRST_HOURS = (8, 19)


@dataclass(frozen=True)
class SimulatedRater:
    name: str
    group: str
    sensitivity: float
    leaning: float = 0.0
    """Log-odds towards Yes."""
    drift: float = 0.0
    """Added to the leaning in the second half of the days."""
    careless: float = 0.0
    """Share of answers that ignore the summary."""
    seconds: float = 90.0
    """The median time of a rating."""
    days: int = len(DAYS)
    """The days after which the rater stops."""


RATERS = (
    SimulatedRater("sim-expert-1", "expert", 1.25, seconds=120),
    SimulatedRater("sim-expert-2", "expert", 1.2, -0.2, seconds=105),
    SimulatedRater("sim-expert-3", "expert", 1.15, 0.1, seconds=135),
    SimulatedRater("sim-crowd-1", "crowd", 0.95, seconds=80),
    SimulatedRater("sim-crowd-2", "crowd", 0.9, 0.3, seconds=75),
    SimulatedRater("sim-crowd-3", "crowd", 0.85, -0.3, careless=0.03, seconds=95),
    SimulatedRater("sim-crowd-4", "crowd", 0.95, drift=2.5, seconds=85),
    SimulatedRater("sim-crowd-5", "crowd", 0.9, 0.1, careless=0.03, seconds=70),
    SimulatedRater("sim-crowd-6", "crowd", 0.8, careless=0.85, seconds=21, days=8),
)
CARELESS_YES = 0.85
"""Share of Yes among careless answers."""


@dataclass(frozen=True)
class SimulatedJudge:
    name: str
    noise: float
    fooled: float
    """Added where fluent-guesser is wrong: +2 would hide the error."""


JUDGES = (SimulatedJudge("simulated-judge-v1", 1.7, 1.6), SimulatedJudge("simulated-judge-v2", 0.6, 0.3))
SHARPNESS = 1.5
ABSENT = 0.02
ABSENT_REASON = "The simulated judge gave no answer."


@dataclass(frozen=True)
class Made:
    """A summary with its true answers, which no page shows."""

    article_id: str
    system: str
    text: str
    truth: Mapping[str, bool]

    @property
    def key(self) -> tuple[str, str]:
        return self.article_id, self.system


@dataclass(frozen=True)
class SimulatedRating:
    rater: SimulatedRater
    article_id: str
    system: str
    day: int
    opened_s: float
    """Seconds from the midnight that begins the day."""
    stages: tuple[tuple[int, float], ...]
    """Stage and the seconds that it took, in order."""
    answers: Sheet


def read_texts() -> list[dict[str, Any]]:
    """Return the rows of texts.jsonl. README.md describes their fields."""
    return _rows("texts.jsonl")


def read_gold() -> list[dict[str, Any]]:
    return _rows("gold.jsonl")


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def make_summaries(texts: Sequence[Mapping[str, Any]]) -> list[Made]:
    """Return the summaries of all articles: the reference and those of four systems."""
    return [made for number, row in enumerate(texts) for made in _of_article(number, row)]


def _of_article(number: int, row: Mapping[str, Any]) -> Iterator[Made]:
    def made(system: str, text: str, *wrong: str) -> Made:
        return Made(row["id"], system, text, {question: question not in wrong for question in QUESTIONS})

    invented = row.get("invented", {})
    misses = ("main_ideas", "conciseness")
    yield made("reference", row["reference"])
    yield made("lead-2", " ".join(sentences(row["article"])[:2]), *(misses if row.get("late") else ()))
    for system, field in (("abstractive", "abstractive"), ("fluent-guesser", "guesser")):
        wrong = {"": (), "detail": ("attribution", "conciseness"), "point": ("attribution", *misses)}
        yield made(system, row[field], *wrong[invented.get(field, "")])
    yield made("clipped", *_clipped(number, row["guesser" if "abstractive" in invented else "abstractive"]))


def _clipped(number: int, faithful: str) -> tuple[str, ...]:
    """Return a faithful summary spoiled in one of three ways, and the questions that it then fails."""
    words = faithful.split()
    if number % 8 in (0, 1, 2):
        return f"{faithful} {sentences(faithful)[-1]}", "repetition", "conciseness"
    if number % 8 in (3, 4):
        return " ".join(words[: len(words) * 3 // 5]), "grammar", "main_ideas", "conciseness"
    return " ".join(words[:4]), "comprehensibility", "grammar", "main_ideas", "conciseness"


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", text)


def simulate_ratings(
    made: Mapping[tuple[str, str], Made], places: Sequence[tuple[tuple[str, str], int]]
) -> list[SimulatedRating]:
    """Return the ratings so far, each rater's in order of time, hidden checks among them.

    `places` has the summaries in the order of work, each with the ratings that it needs.
    """
    chance = Random(SEED)
    day_ends = list(accumulate(DAYS))
    rated = places[: round(len(places) * RATED)]
    work: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for number, (key, wanted) in enumerate(rated):
        share = number / len(rated) * day_ends[-1]
        day = next(day for day, end in enumerate(day_ends) if share < end)
        is_incomplete = wanted > 1 and number >= len(rated) * (1 - INCOMPLETE)
        there = [rater.name for rater in RATERS if day < rater.days]
        for name in chance.sample(there, wanted - is_incomplete):
            work.setdefault((name, day), []).append(key)
    truths = {key: each.truth for key, each in made.items()}
    gold = read_gold()
    for row in gold:
        agreed = {question: answer["value"] == "yes" for question, answer in row["answers"].items()}
        truths[row["article_id"], row["system"]] = dict.fromkeys(QUESTIONS, False) | agreed
    for rater in RATERS:
        for number, row in enumerate(gold, 1):
            day = rater.days * number // len(gold) - 1
            work.setdefault((rater.name, day), []).append((row["article_id"], row["system"]))
    shades = {key: {question: chance.gauss(0, SHADE) for question in QUESTIONS} for key in truths}
    return [
        rating
        for rater in RATERS
        for day in range(rater.days)
        for rating in _day_of_work(rater, day, work.get((rater.name, day), ()), truths, shades)
    ]


def _day_of_work(
    rater: SimulatedRater,
    day: int,
    keys: Sequence[tuple[str, str]],
    truths: Mapping[tuple[str, str], Mapping[str, bool]],
    shades: Mapping[tuple[str, str], Mapping[str, float]],
) -> Iterator[SimulatedRating]:
    chance = Random(f"{SEED} {rater.name} {day}")
    leaning = rater.leaning + rater.drift * (day >= len(DAYS) // 2)
    at = chance.uniform(*FIRST_HOURS) * 3600
    for key in keys:
        odds = {
            question: leaning
            + rater.sensitivity * SENSITIVITY[question] * ((1 if is_true else -1) + shades[key][question])
            for question, is_true in truths[key].items()
        }
        answers = _answers(rater, odds, chance)
        last = max(question.stage for question in SEAHORSE.questions if question.key in answers)
        stages = tuple(
            (stage, rater.seconds * share * chance.lognormvariate(0, 0.35))
            for stage, share in zip(range(1, last + 1), (0.2, 0.2, 0.6), strict=False)
        )
        yield SimulatedRating(rater, *key, day, at, stages, answers)
        at += sum(seconds for _, seconds in stages) + chance.uniform(2, 30)


def _answers(rater: SimulatedRater, odds: Mapping[str, float], chance: Random) -> dict[str, str]:
    answers: dict[str, str] = {}
    while waiting := open_questions(SEAHORSE, answers):
        for question in waiting:
            if chance.random() < rater.careless:
                p_yes = CARELESS_YES
            elif chance.random() < UNSURE and question.stage > 1:
                answers[question.key] = "unsure"
                continue
            else:
                p_yes = sigmoid(odds[question.key])
            answers[question.key] = "yes" if chance.random() < p_yes else "no"
    return answers


def simulate_scores(judge: SimulatedJudge, made: Sequence[Made]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a judge's scores file: a score from 0 to 1 for each question, a few absent."""
    chance = Random(f"{SEED} {judge.name}")
    for number, each in zip(count(1), made, strict=False):
        row: dict[str, Any] = {"id": str(number), "article_id": each.article_id, "system": each.system}
        if chance.random() < ABSENT:
            row["scores"] = dict.fromkeys(QUESTIONS)
            row["reasons"] = dict.fromkeys(QUESTIONS, ABSENT_REASON)
        else:
            row["scores"] = {
                question: round(sigmoid(SHARPNESS * (_seen(judge, each, question) + noise)), 4)
                for question, noise in ((key, chance.gauss(0, judge.noise)) for key in QUESTIONS)
            }
        yield row


def _seen(judge: SimulatedJudge, made: Made, question: str) -> float:
    if made.truth[question]:
        return 1.0
    return judge.fooled - 1 if made.system == "fluent-guesser" else -1.0


def sigmoid(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
