"""The guidelines as a dataset's card has them."""

import re

from django.db.models import Count

from annotation.models import Answer, Project, Rating
from annotation.templatetags.texts import language_name

HEADING = re.compile(r"^(#{1,3})(?= )", re.MULTILINE)
HEADING_ATTRIBUTES = re.compile(r"^(#.*?) *\{[^{}\n]*\}$", re.MULTILINE)


def guidelines(project: Project) -> str:
    """Return the guidelines under which the answers that count were given, as Markdown.

    Each of their versions is there in full, its headings below the card's own.
    """
    answers = Answer.objects.current().filter(
        rating__in=Rating.objects.countable().filter(rater__project=project)
    )
    counts = dict(answers.order_by().values_list("guidelines").annotate(Count("pk")))
    before = counts.pop(None, 0)
    if not counts:
        return (
            f"Raters of {project.name} were given the wording of the questions above, and no further "
            "guidelines."
        )
    parts = [f"{before:,} answers were given without guidelines, or imported."] if before else []
    for version in project.guidelines.filter(pk__in=counts).order_by("language", "number"):
        parts += [
            f"### Version {version.number} in {language_name(version.language)}",
            f"{counts[version.pk]:,} answers were given under this version.",
            HEADING.sub(r"##\1", HEADING_ATTRIBUTES.sub(r"\1", version.text.strip())),
        ]
    return "\n\n".join(parts)
