"""What every page's header needs: the project's sections that this person may open."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from annotation.models import Project, Rater
from annotation.permissions import Permission, permissions_of, project_for


@dataclass(frozen=True)
class Section:
    title: str
    url_name: str
    permission: Permission
    further: tuple[str, ...] = ()
    """Names of other pages' addresses that belong to the section, with all that begin with them."""


@dataclass(frozen=True)
class Link:
    title: str
    url_name: str
    address: str
    is_current: bool


SECTIONS = (
    Section("Rate", "rate", Permission.RATE),
    Section("My ratings", "history", Permission.RATE),
    Section("Progress", "progress", Permission.SEE_PROGRESS),
    Section("Agreement", "agreement", Permission.SEE_RESULTS),
    Section(
        "Evaluators",
        "runs",
        Permission.SEE_PROGRESS,
        further=("dimensions", "endpoints", "alignment", "steadiness"),
    ),
    Section("Meta-evaluation", "metaeval", Permission.SEE_RESULTS),
    Section("Summaries", "summaries", Permission.SEE_TEXTS_AND_RATINGS),
    Section("Import", "imports", Permission.MANAGE_PROJECT),
    Section("People", "people", Permission.MANAGE_PEOPLE),
    Section("Settings", "project_settings", Permission.MANAGE_PROJECT),
)


def open_project(request: HttpRequest, slug: str, permission: Permission) -> Project:
    """The project that this page is about, checked by `project_for` and named in the page's header."""
    project = project_for(request.user, slug, permission)
    setattr(request, "project", project)  # noqa: B010 - HttpRequest declares no such attribute
    return project


def open_as_rater(request: HttpRequest, slug: str) -> Rater:
    """`open_project` for a rater's own page: the rater that this person is in the project."""
    project = open_project(request, slug, Permission.RATE)
    rater = Rater.objects.get(user=request.user.pk, project=project)
    rater.project = project
    return rater


def navigation(request: HttpRequest) -> dict[str, object]:
    """`sections`, as links, for the project that the view put on the request as `request.project`."""
    project = getattr(request, "project", None)
    if project is None:
        return {"project": None, "sections": ()}
    # Lazy, because a fragment has no header and need not ask for the roles again.
    return {"project": project, "sections": SimpleLazyObject(lambda: sections_for(request, project))}


def sections_for(request: HttpRequest, project: Project) -> list[Link]:
    """Links to the sections that this person may open; current is the one that the page belongs to."""
    allowed = permissions_of(request.user, project)
    addresses = {
        section: [reverse(name, args=[project.slug]) for name in (section.url_name, *section.further)]
        for section in SECTIONS
        if section.permission in allowed
    }
    # Progress has the project's own address, which every other one begins with.
    around = [each for own in addresses.values() for each in own if request.path.startswith(each)]
    current = max(around, key=len, default=None)
    return [
        Link(section.title, section.url_name, own[0], current in own) for section, own in addresses.items()
    ]
