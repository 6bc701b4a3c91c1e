"""What other pages say of how steady a language model is."""

from typing import Any

from django import template

from annotation.models import Project
from scoring.catalogue import asking_evaluators
from scoring.models import EvaluatorSetup
from scoring.steadiness.reading import Notice, notice_of, notices_of
from scoring.steadiness.starting import asking_setups

register = template.Library()


@register.inclusion_tag("scoring/_steadiness.html")
def steadiness(setup: EvaluatorSetup) -> dict[str, Any]:
    """Of one evaluator: whether its model answers differently now, and the way to its page."""
    asks = setup.evaluator in asking_evaluators()
    return {
        "setup": setup,
        "asks": asks and setup.scores.computed().exists(),
        "notice": notice_of(setup) if asks else None,
    }


@register.simple_tag
def steadiness_notices(project: Project) -> list[Notice]:
    """Of all evaluators of the project whose models answer differently now."""
    return list(notices_of(asking_setups(project).defer("provenance", "pool", "corpus")).values())
