"""The project that a command's --project names."""

from django.core.management.base import CommandError

from annotation.errors import suggestion
from annotation.models import Project

BAD_ARGUMENTS = 2


def named_project(slug: str) -> Project:
    """Return the project with this slug. Raises CommandError with suggestions and exit code 2."""
    project = Project.objects.select_related("questionnaire").filter(slug=slug).first()
    if project is not None:
        return project
    slugs = list(Project.objects.values_list("slug", flat=True))
    raise CommandError(
        f"there is no project {slug!r}; {suggestion(slug, slugs)}\n"
        "To create one: manage.py create_project NAME --questionnaire seahorse",
        returncode=BAD_ARGUMENTS,
    )
