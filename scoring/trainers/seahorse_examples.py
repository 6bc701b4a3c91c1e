"""The examples that raters' labels give to a SEAHORSE metric."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from annotation.imports.reading.blank_texts import is_blank
from scoring.trainers.contract import TrainingItem
from scoring.trainers.splits import Article

YES, NO = 1.0, 0.0


@dataclass(frozen=True, slots=True)
class LabelledSummary:
    """A summary with people's answer to one question."""

    article: str
    summary: str
    dimension: str
    label: int
    """1 for yes, 0 for no."""
    weight: float = 1.0
    """Weight of its loss; 1 on average over the training examples."""


def weighted(examples: Sequence[LabelledSummary]) -> list[LabelledSummary]:
    """Return the examples with weights that make both answers to a question count the same in all."""
    sizes = Counter((each.dimension, each.label) for each in examples)
    totals = Counter(each.dimension for each in examples)
    return [
        replace(each, weight=totals[each.dimension] / (2 * sizes[each.dimension, each.label]))
        for each in examples
    ]


def examples_of(
    article: Article, dimensions: Sequence[str], counts: Counter[str]
) -> Iterator[LabelledSummary]:
    """Yield the article's examples without duplicates; `counts` receives what is left out."""
    labels: dict[tuple[str, str], set[float]] = defaultdict(set)
    texts: dict[str, TrainingItem] = {}
    for item in article.items:
        text = " ".join(item.summary.split())  # case and punctuation count: people judge grammar
        for dimension in dimensions:
            if dimension not in item.labels:
                continue
            label = item.labels[dimension]
            if not article.digest or is_blank(text):
                counts["Left out: no text"] += 1
            elif label not in (YES, NO):
                counts["Left out: neither yes nor no"] += 1
            else:
                counts["Left out: duplicates"] += bool(labels[text, dimension])
                labels[text, dimension].add(label)
                texts.setdefault(text, item)
    for (text, dimension), found in labels.items():
        if len(found) > 1:
            counts["Left out: contradicting duplicates"] += 1
            continue
        item = texts[text]
        yield LabelledSummary(item.article, item.summary, dimension, int(found.pop()))
