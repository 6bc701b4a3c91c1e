"""The page header: the project's sections that a person may open."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext, gettext_noop

from annotation.models import Project, Rater, RaterMessage
from annotation.permissions import Permission, Person, project_for, rater_for


@dataclass(frozen=True)
class Section:
    title: str
    url_name: str
    permission: Permission
    further: tuple[str, ...] = ()
    """URL names of other pages in the section, with all addresses below them."""
    is_in: Callable[[Project], bool] = lambda _: True
    """True if the project has this section."""
    unread: Callable[[Person, Project], int] = lambda _person, _project: 0
    """The number of messages in the section that the person has not opened."""


def _has_guidelines(project: Project) -> bool:
    return project.guidelines.published().exists()


def _unread_by_rater(person: Person, project: Project) -> int:
    unread = RaterMessage.objects.unread(from_manager=True)
    return unread.filter(rater__project=project, rater__user=person.pk).count()


@dataclass(frozen=True)
class Link:
    title: str
    url_name: str
    address: str
    is_current: bool
    unread: int


SECTIONS = (
    Section(gettext_noop("Rate"), "rate", Permission.RATE),
    Section(gettext_noop("My ratings"), "history", Permission.RATE),
    Section(gettext_noop("Messages"), "own_messages", Permission.RATE, unread=_unread_by_rater),
    Section(gettext_noop("Guidelines"), "guidelines", Permission.RATE, is_in=_has_guidelines),
    Section(gettext_noop("Progress"), "progress", Permission.SEE_PROGRESS),
    Section(
        gettext_noop("Agreement"),
        "agreement",
        Permission.SEE_RESULTS,
        further=("raters", "adjudication", "contradictions"),
    ),
    Section(
        gettext_noop("Evaluators"),
        "runs",
        Permission.SEE_PROGRESS,
        further=("dimensions", "endpoints", "judges", "rechecks", "trainings"),
    ),
    Section(
        gettext_noop("Results"),
        "comparison",
        Permission.SEE_RESULTS,
        further=(
            "preregistrations",
            "evaluator_card",
            "systems",
            "answers",
            "planning",
            "disagreements",
            "experiments",
            "across_projects",
        ),
    ),
    Section(
        gettext_noop("Summaries"),
        "summaries",
        Permission.SEE_TEXTS_AND_RATINGS,
        further=("flags", "gold_set"),
    ),
    Section(gettext_noop("Import"), "imports", Permission.MANAGE_PROJECT),
    Section(gettext_noop("Export"), "exports", Permission.EXPORT_SCORES),
    Section(gettext_noop("People"), "people", Permission.MANAGE_PEOPLE, further=("audit_log",)),
    Section(
        gettext_noop("Settings"),
        "project_settings",
        Permission.MANAGE_PROJECT,
        further=("set_up", "priority"),
    ),
    Section(
        gettext_noop("Archive"),
        "project_archived",
        Permission.CLOSE_PROJECT,
        is_in=lambda project: bool(project.archived_at),
    ),
)


def open_project(request: HttpRequest, slug: str, permission: Permission) -> Project:
    """Return the project, checked by `project_for`, and show it in the page header."""
    project = project_for(request.user, slug, permission)
    enter_project(request, project)
    return project


def enter_project(request: HttpRequest, project: Project) -> None:
    """Let the templates of this request know the project, which its reader may see."""
    setattr(request, "project", project)  # noqa: B010 - HttpRequest declares no such attribute


def open_as_rater(request: HttpRequest, slug: str) -> Rater:
    """Return the person's rater in the project, checked by `rater_for`, and show the project as above."""
    rater = rater_for(request.user, slug)
    enter_project(request, rater.project)
    return rater


def navigation(request: HttpRequest) -> dict[str, object]:
    """Return the context of the page header, for the project that `open_project` has set."""
    project = getattr(request, "project", None)
    if project is None:
        return {"project": None, "sections": ()}
    # Lazy, because fragments have no header.
    return {"project": project, "sections": SimpleLazyObject(lambda: sections_for(request, project))}


def sections_for(request: HttpRequest, project: Project) -> list[Link]:
    """Return links to the sections that the reader may open, the page's own marked as current."""
    addresses = {
        section: [reverse(name, args=[project.slug]) for name in (section.url_name, *section.further)]
        for section in SECTIONS
        if section.permission in project.reader_may and section.is_in(project)
    }
    # All addresses begin with that of Progress, so the longest match is current.
    around = [each for own in addresses.values() for each in own if request.path.startswith(each)]
    current = max(around, key=len, default=None)
    return [
        Link(
            gettext(section.title),
            section.url_name,
            own[0],
            current in own,
            section.unread(request.user, project),
        )
        for section, own in addresses.items()
    ]
