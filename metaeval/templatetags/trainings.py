"""Filters that describe trained models on pages."""

from collections.abc import Iterator

from django import template

from scoring.models import Training
from scoring.trainers.contract import VALIDATION_ARTICLES, amount
from scoring.trainers.validation_intervals import FEWEST_ARTICLES
from scoring.weights.model_card import ModelCard

register = template.Library()
register.filter(amount)


def measure_words(name: str) -> str:
    """Return a measure's name in words: 'validation AUC'."""
    return name.replace("_", " ").replace("auc", "AUC").replace("pearson", "Pearson's r")


@register.filter
def measured(of: Training | ModelCard) -> Iterator[tuple[str, float, tuple[float, float] | None]]:
    """Yield each measure of a training or a model in words, its value, and its interval if it has one."""
    for name, value in of.measures.items():
        yield measure_words(name), value, of.intervals.get(name)


@register.filter
def intervals_explained(of: Training | ModelCard) -> str:
    """Return a sentence on the intervals of a training's or a model's measures, or on their absence."""
    counts = of.data if isinstance(of, ModelCard) else of.counts
    articles = counts.get(VALIDATION_ARTICLES, 0)
    if of.intervals:
        return (
            f"In brackets: 95% intervals from resamples of the {articles:,} validation articles, which also "
            "chose the checkpoint."
        )
    if of.measures and articles < FEWEST_ARTICLES:
        return (
            f"Without intervals, because there are fewer than {FEWEST_ARTICLES} validation articles "
            f"({articles})."
        )
    return ""


@register.filter
def card_dimensions(card: ModelCard) -> str:
    """Return the dimensions that a model scores, in words."""
    return ", ".join(each.replace("_", " ") for each in card.dimensions)


@register.filter
def articles_seen(card: ModelCard) -> int:
    """Return the number of articles that a model was trained or validated on."""
    return len({digest for digests in card.articles.values() for digest in digests})
