"""The project that a command's --project names."""

import difflib

from django.core.management.base import CommandError

from annotation.models import Project

BAD_ARGUMENTS = 2


def named_project(slug: str) -> Project:
    """The project with this slug. Raises CommandError with the near ones; the exit code is 2."""
    project = Project.objects.select_related("questionnaire").filter(slug=slug).first()
    if project is not None:
        return project
    slugs = list(Project.objects.values_list("slug", flat=True))
    near = difflib.get_close_matches(slug, slugs)
    advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(slugs) or 'none yet'}"
    raise CommandError(f"there is no project {slug!r}; {advice}", returncode=BAD_ARGUMENTS)
