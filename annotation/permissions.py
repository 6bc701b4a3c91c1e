"""Roles and permissions in a project, and the check that every view and action uses."""

from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from annotation.errors import NotAllowed, NotFound, NotSignedIn
from annotation.models import Membership, Project, Rater, Role


class Permission(StrEnum):
    RATE = gettext_noop("rate")
    SEE_TEXTS_AND_RATINGS = gettext_noop("see articles, summaries and ratings")
    MANAGE_PEOPLE = gettext_noop("see names, invite and remove people")
    MANAGE_PROJECT = gettext_noop("import, keep the gold set and change settings")
    CLOSE_PROJECT = gettext_noop("archive, restore and delete the project")
    EXPORT_RATINGS = gettext_noop("export ratings and the gold set")
    EXPORT_SCORES = gettext_noop("export scores and labels")
    MANAGE_RUNS = gettext_noop("start, cancel and delete runs")
    SEE_PROGRESS = gettext_noop("see progress, runs and scores")
    SEE_RESULTS = gettext_noop("see the results")
    ADJUDICATE = gettext_noop("decide answers on which raters disagree")
    TAG_DISAGREEMENTS = gettext_noop("say who is wrong where evaluators and people disagree")
    PREREGISTER = gettext_noop("state beforehand what a comparison is to show")


GRANTS: dict[Role, frozenset[Permission]] = {
    Role.ANNOTATOR: frozenset({Permission.RATE}),
    Role.MANAGER: frozenset(Permission) - {Permission.RATE},
    Role.RESEARCHER: frozenset(
        {
            Permission.SEE_TEXTS_AND_RATINGS,
            Permission.EXPORT_SCORES,
            Permission.MANAGE_RUNS,
            Permission.SEE_PROGRESS,
            Permission.SEE_RESULTS,
            Permission.TAG_DISAGREEMENTS,
            Permission.PREREGISTER,
        }
    ),
}
PUBLISHED = frozenset({Permission.SEE_RESULTS})
"""Permissions of anybody in a project with published results, signed in or not.

The project's own raters are excepted: while they rate, they see neither scores nor others' answers.
"""

CLOSED_WHILE_RATING = frozenset(
    {
        Permission.SEE_TEXTS_AND_RATINGS,
        Permission.EXPORT_RATINGS,
        Permission.EXPORT_SCORES,
        Permission.ADJUDICATE,
        Permission.TAG_DISAGREEMENTS,
    }
)
"""Permissions that show other raters' answers. They are withheld from managers and researchers who rate."""

IN_ARCHIVE = frozenset(
    {
        Permission.SEE_TEXTS_AND_RATINGS,
        Permission.SEE_PROGRESS,
        Permission.SEE_RESULTS,
        Permission.EXPORT_SCORES,
        Permission.EXPORT_RATINGS,
        Permission.CLOSE_PROJECT,
    }
)
"""Permissions that roles keep in an archived project: reading, exporting, restoring and deleting it."""

NO_SUCH_PROJECT = gettext_noop("There is no such project, or you are not a member.")

Person = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True)
class _Standing:
    """A person's roles in a project."""

    roles: frozenset[Role]
    is_rater: bool
    """True if they are among the project's raters, removed ones included: they may be reinstated."""
    rates: bool
    """True if they are, and neither suspended nor removed."""

    @property
    def granted(self) -> frozenset[Permission]:
        return frozenset().union(*(GRANTS[role] for role in self.roles))

    def permissions(self, project: Project) -> frozenset[Permission]:
        is_open = project.results_published_at is not None and not self.is_rater
        granted = self.granted | PUBLISHED if is_open else self.granted
        if self.rates:
            granted -= CLOSED_WHILE_RATING
        return granted & IN_ARCHIVE if project.archived_at else granted


STANDING = f"""
    SELECT role FROM {Membership._meta.db_table} WHERE user_id = %s AND project_id = %s
    UNION ALL
    SELECT status FROM {Rater._meta.db_table} WHERE user_id = %s AND project_id = %s
"""  # noqa: S608 - names of tables
"""The roles of a person's memberships and the status of their rater.

Nearly every request asks this, and Django takes 25 times as long to write the query as to send it.
"""


def limit_to_project(user: Person, project_id: int) -> None:
    """Give `user` their roles in this project only, for a request with a token that is limited to it.

    Elsewhere they get what anybody gets.
    """
    setattr(user, "only_project_id", project_id)  # noqa: B010 - Django's users declare no such attribute


def _only_project_id(user: Person) -> int | None:
    return getattr(user, "only_project_id", None)


def _standing(user: Person, project: Project) -> _Standing:
    if not user.is_authenticated or _only_project_id(user) not in (None, project.pk):
        return _Standing(frozenset(), is_rater=False, rates=False)
    with connection.cursor() as cursor:
        cursor.execute(STANDING, [user.pk, project.pk] * 2)
        words = {word for (word,) in cursor.fetchall()}  # no role has the name of a status
    roles = {Role(word) for word in words.intersection(Role.values)}
    statuses = words.intersection(Rater.Status.values)
    if statuses - {Rater.Status.REMOVED}:
        roles.add(Role.ANNOTATOR)
    rates = bool(statuses - {Rater.Status.REMOVED, Rater.Status.SUSPENDED})
    return _Standing(frozenset(roles), is_rater=bool(statuses), rates=rates)


def permissions_of(user: Person, project: Project) -> frozenset[Permission]:
    """Return what `user` may do in `project`, by their roles or because it is published."""
    return _standing(user, project).permissions(project)


def projects_for(user: Person, permission: Permission) -> QuerySet[Project]:
    """Return the projects in which a role of `user` permits this.

    They are without published projects of others and without archived ones.
    """
    if not user.is_authenticated:
        return Project.objects.none()
    roles = [role for role in Role if permission in GRANTS[role]]
    places = Q(pk__in=Membership.objects.filter(user=user.pk, role__in=roles).values("project"))
    if Role.ANNOTATOR in roles:
        places |= Q(pk__in=Rater.objects.in_good_standing().filter(user=user.pk).values("project"))
    found = Project.objects.filter(places, archived_at__isnull=True)
    if (only := _only_project_id(user)) is not None:
        found = found.filter(pk=only)
    if permission in CLOSED_WHILE_RATING:
        return found.exclude(pk__in=Rater.objects.active().filter(user=user.pk).values("project"))
    return found


def project_for(user: Person, slug: str, permission: Permission) -> Project:
    """Return the project with this slug, if `user` may do this in it.

    Raises NotAllowed if a member's role is not enough, and NotFound for others, so that the project's
    existence does not leak (NotSignedIn if they are not signed in).
    """
    project = Project.objects.select_related("questionnaire").filter(slug=slug).first()
    if project is None:
        raise _no_such_project(user)
    standing = _standing(user, project)
    _require(user, standing, project, permission)
    project.reader_may = standing.permissions(project)
    project.only_published = permission not in standing.granted
    return project


def rater_for(user: Person, slug: str) -> Rater:
    """Return the person's rater in the project with this slug, who may rate. Raises as `project_for`."""
    project = project_for(user, slug, Permission.RATE)
    rater = Rater.objects.get(user=user.pk, project=project)
    rater.project = project
    return rater


def require(user: Person, project: Project, permission: Permission) -> None:
    """Raise as `project_for` does unless `user` may do this in `project`."""
    _require(user, _standing(user, project), project, permission)


def _require(user: Person, standing: _Standing, project: Project, permission: Permission) -> None:
    if permission in standing.permissions(project):
        return
    if permission in standing.granted and standing.rates and permission in CLOSED_WHILE_RATING:
        message = gettext(
            "You rate in %(project)s, so other raters' answers are closed to you here. "
            "To see them, stop rating: open My ratings and choose Stop rating."
        )
        raise NotAllowed(message % {"project": project.name})
    if permission in standing.granted:
        message = gettext("%(project)s is archived, so it is read-only. Its manager can restore it.")
        raise NotAllowed(message % {"project": project.name})
    if standing.roles:
        # Translators: act is a permission, such as "see the results".
        message = gettext("Your role in %(project)s (%(roles)s) does not allow you to %(act)s.")
        roles = ", ".join(str(role.label) for role in sorted(standing.roles))
        raise NotAllowed(message % {"project": project.name, "roles": roles, "act": gettext(permission)})
    if standing.is_rater:
        message = gettext("You are no longer a member of %(project)s. Its manager can reinstate you.")
        raise NotFound(message % {"project": project.name})
    raise _no_such_project(user)


def _no_such_project(user: Person) -> NotFound:
    refusal = NotFound if user.is_authenticated else NotSignedIn
    return refusal(gettext(NO_SUCH_PROJECT))


def may_stop_rating(user: Person, project: Project) -> bool:
    """Return whether `user` rates in `project` and has another role in it, too."""
    standing = _standing(user, project)
    return standing.rates and len(standing.roles) > 1


def may_create_project(user: Person) -> bool:
    """Return whether `user` is a superuser or manages a project, without a token for one project only."""
    if not user.is_authenticated or _only_project_id(user) is not None:
        return False
    return (
        bool(getattr(user, "is_superuser", False))
        or Membership.objects.filter(user=user.pk, role=Role.MANAGER).exists()
    )
