"""Who may do what in a project: the table of roles, and the check that every action and read goes through."""

from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

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
