"""The examples that raters' labels give to a SEAHORSE metric."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from annotation.imports.reading.blank_texts import is_blank
from scoring.trainers.contract import TrainingItem
from scoring.trainers.splits import Article

MAJORITY, SHARE = "majority", "share"
"""Rules for labels of raters who disagree: the answer of most, or the share of yes."""


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
    """Yield the article's examples without duplicates; `counts` receives what is left out.

    By MAJORITY a label above .5 is a yes and one below a no; a label of .5 is left out, and so are duplicates
    of a text with both. By SHARE the label is learnt as it is, of duplicates their mean.
    """
    labels: dict[tuple[str, str], list[float]] = defaultdict(list)
    texts: dict[str, TrainingItem] = {}
    for item in article.items:
        text = " ".join(item.summary.split())  # case and punctuation count: people judge grammar
        for dimension in dimensions:
            if dimension not in item.labels:
                continue
            label = item.labels[dimension]
            if not article.digest or is_blank(text):
                counts["Left out: no text"] += 1
            elif rule == MAJORITY and label == 0.5:
                counts["Left out: as many yes as no"] += 1
            else:
                counts["Left out: duplicates"] += bool(labels[text, dimension])
                labels[text, dimension].append(label if rule == SHARE else float(label > 0.5))
                texts.setdefault(text, item)
    for (text, dimension), found in labels.items():
        if rule == MAJORITY and len(set(found)) > 1:
            counts["Left out: contradicting duplicates"] += 1
            continue
        item = texts[text]
        yield LabelledSummary(item.article, item.summary, dimension, fmean(found))
