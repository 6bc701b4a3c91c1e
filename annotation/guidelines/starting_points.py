"""Texts from which a draft can start."""

from pathlib import Path

from annotation.errors import DomainError
from annotation.guidelines.versions import published_version
from annotation.models import Project
from annotation.protocol import SEAHORSE, Questionnaire
from annotation.templatetags.texts import answer_label, language_name

TEXTS = Path(__file__).resolve().parent / "texts"
"""Touchstone's own guidelines, one file for a questionnaire, named by its key."""
SHIPPED, HEADINGS, EMPTY = "touchstone", "headings", "empty"


def shipped_guidelines(questionnaire: Questionnaire) -> str | None:
    """Return Touchstone's guidelines for this questionnaire as Markdown; None if there are none."""
    path = TEXTS / f"{questionnaire.key}.md"
    if not path.exists() or questionnaire.questions != SEAHORSE.questions:
        return None
    return path.read_text(encoding="utf-8")


def headings_for(questionnaire: Questionnaire) -> str:
    """Return the headings of guidelines for this questionnaire: its questions, with an example an answer."""
    parts = ["Write here what raters should know before they start.\n"]
    for question in questionnaire.questions:
        parts.append(f"## {question.title}\n\n{question.wording}\n")
        parts += [
            f"### {answer_label(value)}\n\n> Copy an example here.\n\nExplain the answer.\n"
            for value in question.scale.choices
            if value != "unsure"
        ]
    return "\n".join(parts)


def starting_points(project: Project) -> list[tuple[str, str]]:
    """Return what a draft can start from, as (name, label): published versions, newest first, and ours."""
    published = project.guidelines.published().order_by("-published_at", "-pk")
    found = [
        (f"{language}/{number}", f"Version {number}, {language_name(language)}")
        for language, number in published.values_list("language", "number")
    ]
    questionnaire = project.questionnaire.protocol
    if shipped_guidelines(questionnaire) is not None:
        found.append((SHIPPED, "Touchstone's guidelines"))
    return [*found, (HEADINGS, "A heading for each question"), (EMPTY, "Empty page")]


def starting_text(project: Project, name: str) -> str:
    """Return the text of a starting point. Raises DomainError for names that are not offered."""
    if name not in dict(starting_points(project)):
        raise DomainError(f"Start from: found {name!r}, which is not offered.")
    questionnaire = project.questionnaire.protocol
    if name == SHIPPED:
        return shipped_guidelines(questionnaire) or ""
    if name == HEADINGS:
        return headings_for(questionnaire)
    if name == EMPTY:
        return ""
    language, number = name.split("/")
    return published_version(project, language, int(number)).text
