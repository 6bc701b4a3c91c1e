"""The evaluators to choose from for a run, and the reasons why some cannot run on a project."""

from typing import Any

from annotation.models import Article, Project, Rating, Summary
from scoring.evaluators import FAMILIES
from scoring.evaluators.catalogue import describe
from scoring.weights.model_files import is_here

Described = dict[str, Any]
"""A description by `describe`, with `weights_are` and `lacks`, the needs that the project cannot meet."""


def evaluators_for(project: Project) -> tuple[dict[str, list[Described]], list[Described]]:
    """Return the evaluators that can run on the project by family, and the others."""
    present = _present(project)
    families: dict[str, list[Described]] = {}
    others = []
    for family, names in FAMILIES.items():
        for described in describe(names):
            found = described | {
                "weights_are": _default_weights(described),
                "lacks": _lacks(described, present),
            }
            if found["lacks"] or found["weights_are"] == "missing":
                others.append(found)
            else:
                families.setdefault(family, []).append(found)
    return families, others


def _present(project: Project) -> set[str]:
    """Return the needs that the project can meet, if only for some of its summaries."""
    summaries = Summary.objects.filter(project=project)
    found = {
        "article": Article.objects.filter(project=project).exclude(text="").exists(),
        "references": summaries.filter(system__is_reference=True).exists(),
        "labelled_pool": Rating.objects.countable().filter(summary__in=summaries).exists(),
        "scores": project.setups.exists(),
        "corpus": True,
    }
    return {need for need, is_met in found.items() if is_met}


def _lacks(described: Described, present: set[str]) -> list[str]:
    """Return the needs that are not present, with the parameters that lack the fewest."""
    alternatives = [described["needs"], *(each["needs"] for each in described["needs_if"])]
    return min(([need for need in needs if need not in present] for needs in alternatives), key=len)


def _default_weights(described: Described) -> str:
    """Return "here" or "missing" for the evaluator's default models, or "unnamed" if runs must name one."""
    naming = [each for each in described["parameters"] if each["is_weights"]]
    if any(each["required"] for each in naming):
        return "unnamed"
    return "here" if all(is_here(each["default"]) for each in naming if each["default"]) else "missing"
