"""Who may do what in a project: the table of roles, and the check that every action and read goes through."""

from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from annotation.errors import NotAllowed, NotFound
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
    SEE_RESULTS = "see agreement and meta-evaluation"


GRANTS: dict[Role, frozenset[Permission]] = {
    Role.ANNOTATOR: frozenset({Permission.RATE}),
    Role.MANAGER: frozenset(Permission) - {Permission.RATE},
    Role.RESEARCHER: frozenset(
        {
            Permission.SEE_TEXTS_AND_RATINGS,
            Permission.EXPORT_SCORES,
            Permission.MANAGE_RUNS,
            Permission.SEE_RESULTS,
        }
    ),
}

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
    return frozenset().union(*(GRANTS[role] for role in roles_of(user, project)))


def projects_for(user: Person, permission: Permission) -> QuerySet[Project]:
    """The projects in which `user` may do this."""
    if not user.is_authenticated:
        return Project.objects.none()
    roles = [role for role in Role if permission in GRANTS[role]]
    places = Q(pk__in=Membership.objects.filter(user=user.pk, role__in=roles).values("project"))
    if Role.ANNOTATOR in roles:
        places |= Q(pk__in=Rater.objects.in_good_standing().filter(user=user.pk).values("project"))
    return Project.objects.filter(places)


def project_for(user: Person, slug: str, permission: Permission) -> Project:
    """The project with this slug, if `user` may do this in it.

    Raises NotFound where the user has no part in the project, so that its existence does not leak, and
    NotAllowed where a member's role is not enough.
    """
    project = Project.objects.select_related("questionnaire").filter(slug=slug).first()
    if project is None:
        raise NotFound("There is no such project, or you have no part in it.")
    require(user, project, permission)
    return project


def require(user: Person, project: Project, permission: Permission) -> None:
    """Raise NotFound or NotAllowed, as `project_for` does, unless `user` may do this in `project`."""
    roles = roles_of(user, project)
    if not roles and Rater.objects.filter(user=user.pk, project=project, user__isnull=False).exists():
        raise NotFound(f"You have no part in {project.name} any more. Its manager can take you in again.")
    if not roles:
        raise NotFound("There is no such project, or you have no part in it.")
    if not any(permission in GRANTS[role] for role in roles):
        raise NotAllowed(
            f"Your role in {project.name} ({', '.join(sorted(roles))}) may not {permission.value}."
        )


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
