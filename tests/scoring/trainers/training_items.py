"""Summaries whose answers a tiny model can learn."""

import random

from scoring.trainers.contract import Point, TrainingItem

WORDS = ("cat", "mat", "good", "talks", "news", "company", "shares", "report", "paid", "Monday")
SUMMARIES = {1: "the cat sat on the mat", 0: "officials said the shares fell"}


def learnable_items(training=64, validation=16, *, dimension="attribution", seed=0):
    """Return as many summaries, half of them answered with yes, which their words give away."""
    drawn = random.Random(seed)
    items = []
    for number in range(training + validation):
        label = number % 2
        article = " ".join(drawn.choices(WORDS, k=drawn.randint(5, 15)))
        items.append(
            TrainingItem(
                id=str(number),
                article_id=f"article {number}",
                article=f"{article} {number}.",
                summary=f"{SUMMARIES[label]} {drawn.choice(WORDS)}",
                language="en",
                labels={dimension: float(label)},
                split="train" if number < training else "validation",
            )
        )
    return items


class Watching:
    """Keeps the points, and cancels after a step if asked to."""

    def __init__(self, cancel_at: int | None = None) -> None:
        self.points: list[Point] = []
        self._cancel_at = cancel_at
        self._asked = 0

    def report(self, point: Point) -> None:
        self.points.append(point)

    def is_cancelled(self) -> bool:
        self._asked += 1
        return self._cancel_at is not None and self._asked >= self._cancel_at

    @property
    def losses(self) -> dict[int, float]:
        return {each.step: each.loss for each in self.points if each.loss is not None}

    @property
    def validations(self) -> dict[int, dict[str, float]]:
        return {each.step: dict(each.measures) for each in self.points if each.measures}
