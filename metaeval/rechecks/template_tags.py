"""Drift notices on other pages, as `{% load rechecks %}`."""

from typing import Any

from django import template

from annotation.models import Project
from metaeval.rechecks.results import DriftNotice, notice_of, notices_of
from metaeval.rechecks.starting import asking_setups
from scoring.evaluators.catalogue import asking_evaluators
from scoring.models import Setup

register = template.Library()


@register.inclusion_tag("metaeval/rechecks/_rechecks.html")
def rechecks(setup: Setup) -> dict[str, Any]:
    """Show whether the setup's model has drifted, with a link to its rechecks."""
    asks = setup.evaluator in asking_evaluators()
    return {
        "setup": setup,
        "asks": asks and setup.scores.computed().exists(),
        "notice": notice_of(setup) if asks else None,
    }


@register.simple_tag
def recheck_notices(project: Project) -> list[DriftNotice]:
    """Return the drift notices of all setups of the project."""
    return list(notices_of(asking_setups(project).defer("provenance", "pool", "corpus")).values())
