"""The guidelines as a dataset's card has them."""

import re

from django.db.models import Count

from annotation.models import Answer, Project, Rating
from annotation.templatetags.texts import language_name
from metaeval.export.formats import markdown_text

HEADING = re.compile(r"^(#{1,3})(?= )", re.MULTILINE)
HEADING_ATTRIBUTES = re.compile(r"^(#.*?) *\{[^{}\n]*\}$", re.MULTILINE)
LINK_WITHIN_GUIDELINES = re.compile(r"\[([^\[\]]*)\]\(#[^()\s]*\)")
MARKUP_AS_TEXT = str.maketrans({"<": "&lt;", "[": "&#91;"})
"""The beginnings of HTML, links and images. A backslash could be undone by one before it."""


def guidelines(project: Project) -> str:
    """Return the guidelines under which the answers that count were given, as Markdown.

    Each of their versions is quoted in full, its headings below the card's own.
    """
    answers = Answer.objects.current().filter(
        rating__in=Rating.objects.countable().filter(rater__project=project)
    )
    counts = dict(answers.order_by().values_list("guidelines").annotate(Count("pk")))
    before = counts.pop(None, 0)
    if not counts:
        return (
            f"Raters of {markdown_text(project.name)} were given the wording of the questions above, and no "
            "further guidelines."
        )
    parts = [f"{before:,} answers were given without guidelines, or imported."] if before else []
    for version in project.guidelines.filter(pk__in=counts).order_by("language", "number"):
        parts += [
            f"### Version {version.number} in {markdown_text(language_name(version.language))}",
            f"{counts[version.pk]:,} answers were given under this version.",
            _quoted(version.text),
        ]
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    """Return Markdown as a quotation, in which HTML, links and images are only text.

    The quotation ends whatever the text leaves open, such as a block of code.
    """
    text = "\n".join(text.strip().splitlines())
    text = LINK_WITHIN_GUIDELINES.sub(r"\1", HEADING_ATTRIBUTES.sub(r"\1", text))
    lines = HEADING.sub(r"##\1", text).translate(MARKUP_AS_TEXT).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)
