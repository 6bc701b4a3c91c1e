"""The examples that raters' labels give to a SEAHORSE metric."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from annotation.imports.reading.blank_texts import is_blank
from scoring.trainers.contract import TrainingItem
from scoring.trainers.splits import Article

MAJORITY, ADJUDICATED, SHARE, RATINGS = "majority", "adjudicated", "share", "ratings"
"""Rules for summaries on which raters disagree; see `examples_of`."""


@dataclass(frozen=True, slots=True)
class LabelledSummary:
    """A summary with people's answer to one question."""

    article: str
    summary: str
    dimension: str
    label: float
    """1 for yes, 0 for no; by the rule SHARE also between."""
    weight: float = 1.0
    """Weight of its loss; 1 on average over the training examples."""

    @property
    def answer(self) -> int | None:
        """Return 1 for yes, 0 for no, and None for as many yes as no."""
        return None if self.label == 0.5 else int(self.label > 0.5)


def weighted(examples: Sequence[LabelledSummary]) -> list[LabelledSummary]:
    """Return examples, each a yes or a no, with weights by which both count the same for a question."""
    sizes = Counter((each.dimension, each.label) for each in examples)
    totals = Counter(each.dimension for each in examples)
    return [
        replace(each, weight=totals[each.dimension] / (2 * sizes[each.dimension, each.label]))
        for each in examples
    ]


def examples_of(
    article: Article, dimensions: Sequence[str], rule: str, counts: Counter[str]
) -> Iterator[LabelledSummary]:
    """Yield the article's examples; `counts` receives what is left out.

    By MAJORITY a label above .5 is a yes and one below a no, and one of .5 is left out. ADJUDICATED is the
    same, but for the adjudicated answer where there is one. By RATINGS each rater's answer is an example; a
    label of which only the mean is known counts as one answer. By SHARE the label is learnt as it is.

    Of duplicates, the same text for the same article, one is kept: by SHARE with the mean of their labels,
    else only if all have the same answer. By RATINGS the answers to all are kept.
    """
    labels: dict[tuple[str, str], list[float]] = defaultdict(list)
    texts: dict[str, TrainingItem] = {}
    for item in article.items:
        text = " ".join(item.summary.split())  # case and punctuation count: people judge grammar
        for dimension in dimensions:
            found = labels_of(item, dimension, rule)
            if not article.digest or is_blank(text):
                counts["Left out: no text"] += len(found)
                continue
            undecided = 0 if rule == SHARE else found.count(0.5)
            counts["Left out: as many yes as no"] += undecided
            if len(found) > undecided:
                counts["Left out: duplicates"] += bool(labels[text, dimension]) and rule != RATINGS
                labels[text, dimension] += (
                    found if rule == SHARE else [float(each > 0.5) for each in found if each != 0.5]
                )
                texts.setdefault(text, item)
    for (text, dimension), found in labels.items():
        if rule in (MAJORITY, ADJUDICATED) and len(set(found)) > 1:
            counts["Left out: contradicting duplicates"] += 1
            continue
        item = texts[text]
        for label in found if rule == RATINGS else [fmean(found)]:
            yield LabelledSummary(item.article, item.summary, dimension, label)


def labels_of(item: TrainingItem, dimension: str, rule: str) -> list[float]:
    """Return the item's labels from 0 to 1 that a rule begins with; none if it has no label."""
    if rule == ADJUDICATED and dimension in item.decided:
        return [item.decided[dimension]]
    if rule == RATINGS and item.answers.get(dimension):
        return list(item.answers[dimension])
    return [item.labels[dimension]] if dimension in item.labels else []
