"""Filters that describe trained models on pages."""

from django import template

from scoring.trainers.contract import amount
from scoring.weights.model_card import ModelCard

register = template.Library()
register.filter(amount)


@register.filter
def measure_words(name: str) -> str:
    """Return a measure's name in words: 'validation AUC'."""
    return name.replace("_", " ").replace("auc", "AUC").replace("pearson", "Pearson's r")


@register.filter
def card_dimensions(card: ModelCard) -> str:
    """Return the dimensions that a model scores, in words."""
    return ", ".join(each.replace("_", " ") for each in card.dimensions)


@register.filter
def articles_seen(card: ModelCard) -> int:
    """Return the number of articles that a model was trained or validated on."""
    return len({digest for digests in card.articles.values() for digest in digests})
