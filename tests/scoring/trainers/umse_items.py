"""Articles with references for UMSE's trainer, short enough for tiny encoders."""

from random import Random

from scoring.trainers.contract import TrainingItem

WORDS = ["cat", "mat", "good", "talks", "shares", "fell", "news", "report", "says", "old", "gray", "boat"]
SHORT = {"test_share": 0, "prefix_length": 4, "epochs": 1, "patience": 0, "attention_dropout": False}
"""Settings of a training of seconds."""


def articles_with_references(training=32, validation=4):
    """Return one item for each article: five sentences, and a reference of two."""
    draw = Random(0)

    def sentence():
        return f"{draw.choice('abcdefgh')} {draw.choice(WORDS)} {draw.choice(WORDS)}.".capitalize()

    return [
        TrainingItem(
            id=str(number),
            article_id=f"article {number}",
            article=" ".join(sentence() for _ in range(5)),
            summary="Not read.",
            references=(" ".join(sentence() for _ in range(2)),),
            language="en",
            split="train" if number < training else "validation",
        )
        for number in range(training + validation)
    ]
