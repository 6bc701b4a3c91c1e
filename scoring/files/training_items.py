"""Summaries to train an evaluator on, from an examples file."""

from collections.abc import Iterator
from pathlib import Path

from scoring.files.examples import read_examples, unit_labels
from scoring.trainers.contract import TrainingItem


def read_training_items(
    path: Path | str, label_scale: tuple[float, float] = (0.0, 1.0)
) -> Iterator[TrainingItem]:
    """Yield the file's examples that have an article, with labels scaled from `label_scale` to [0, 1].

    Raises FileRefused for a file with faults, and ValueError for a label outside of the scale.
    """
    for each in read_examples(path):
        item = each.item
        if item.article and item.article_id:
            yield TrainingItem(
                id=item.id,
                article_id=item.article_id,
                article=item.article,
                summary=item.summary,
                references=item.references,
                language=item.language,
                labels=unit_labels(each, label_scale),
                split=each.split or "",
            )
