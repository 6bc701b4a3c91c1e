"""Who may do what in a project: the table of roles, and the check that every action and read goes through."""

from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from annotation.errors import NotAllowed, NotFound, NotSignedIn
from annotation.models import Membership, Project, Rater


class Role(StrEnum):
    ANNOTATOR = "annotator"
    MANAGER = "manager"
    RESEARCHER = "researcher"


class Permission(StrEnum):
    RATE = "rate"
    SEE_TEXTS_AND_RATINGS = "see articles, summaries and ratings"
    MANAGE_PEOPLE = "see names, invite and remove people"
    MANAGE_PROJECT = "import, keep the gold set and change settings"
    EXPORT_SCORES = "export scores and labels"
    MANAGE_RUNS = "start, cancel and delete runs"
    SEE_PROGRESS = "see progress, runs and scores"
    SEE_RESULTS = "see agreement and meta-evaluation"
    TAG_DISAGREEMENTS = "say who is wrong where evaluators and people disagree"


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
        }
    ),
}
PUBLISHED = frozenset({Permission.SEE_RESULTS})
"""What anybody may do in a project whose results are published, signed in or not. The project's own raters
are not anybody: while they rate they see neither the answers of others nor scores."""

NO_SUCH_PROJECT = "There is no such project, or you have no part in it."

Person = AbstractBaseUser | AnonymousUser


def roles_of(user: Person, project: Project) -> frozenset[Role]:
    """The roles of `user` in `project`; empty for strangers, and for annotators who were removed."""
    if not user.is_authenticated:
        return frozenset()
    roles = {
        Role(role)
        for role in Membership.objects.filter(user=user.pk, project=project).values_list("role", flat=True)
    }
    if Rater.objects.in_good_standing().filter(user=user.pk, project=project).exists():
        roles.add(Role.ANNOTATOR)
    return frozenset(roles)


def permissions_of(user: Person, project: Project) -> frozenset[Permission]:
    """What `user` may do in `project`: by their roles, and what is open to anybody."""
    granted = _granted(roles_of(user, project))
    return granted | PUBLISHED if _is_open_to(user, project) else granted


def _granted(roles: frozenset[Role]) -> frozenset[Permission]:
    return frozenset().union(*(GRANTS[role] for role in roles))


def _is_open_to(user: Person, project: Project) -> bool:
    return project.results_published_at is not None and not _is_rater(user, project)


def _is_rater(user: Person, project: Project) -> bool:
    """Whether `user` rates in `project` or did so until they were removed: they may be taken in again."""
    return user.is_authenticated and Rater.objects.filter(user=user.pk, project=project).exists()


def projects_for(user: Person, permission: Permission) -> QuerySet[Project]:
    """The projects in which a role of `user` permits this; what others have published is not listed."""
    if not user.is_authenticated:
        return Project.objects.none()
    roles = [role for role in Role if permission in GRANTS[role]]
    places = Q(pk__in=Membership.objects.filter(user=user.pk, role__in=roles).values("project"))
    if Role.ANNOTATOR in roles:
        places |= Q(pk__in=Rater.objects.in_good_standing().filter(user=user.pk).values("project"))
    return Project.objects.filter(places)


def project_for(user: Person, slug: str, permission: Permission) -> Project:
    """The project with this slug, if `user` may do this in it.

    Raises NotFound where the user has no part in the project, so that its existence does not leak, in its
    place NotSignedIn for whoever is not signed in, and NotAllowed where a member's role is not enough.
    """
    project = Project.objects.select_related("questionnaire").filter(slug=slug).first()
    if project is None:
        raise _no_such_project(user)
    project.only_published = require(user, project, permission)
    return project


def require(user: Person, project: Project, permission: Permission) -> bool:
    """Raise as `project_for` does unless `user` may do this in `project`.

    Returns whether they may only because it is published.
    """
    roles = roles_of(user, project)
    if permission in _granted(roles):
        return False
    if permission in PUBLISHED and _is_open_to(user, project):
        return True
    if roles:
        raise NotAllowed(
            f"Your role in {project.name} ({', '.join(sorted(roles))}) may not {permission.value}."
        )
    if _is_rater(user, project):
        raise NotFound(f"You have no part in {project.name} any more. Its manager can take you in again.")
    raise _no_such_project(user)


def _no_such_project(user: Person) -> NotFound:
    refusal = NotFound if user.is_authenticated else NotSignedIn
    return refusal(NO_SUCH_PROJECT)


def rater_for(user: Person, project: Project) -> Rater:
    """The rater that `user` is in `project`; raises as `require` does."""
    require(user, project, Permission.RATE)
    return Rater.objects.select_related("project__questionnaire").get(user=user.pk, project=project)


def may_create_project(user: Person) -> bool:
    """Superusers, and whoever manages a project already."""
    if not user.is_authenticated:
        return False
    return (
        bool(getattr(user, "is_superuser", False))
        or Membership.objects.filter(user=user.pk, role=Role.MANAGER).exists()
    )
