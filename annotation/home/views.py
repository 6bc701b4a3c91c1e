"""The first page: one's projects, or the way in."""

from dataclasses import dataclass, field

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from annotation.demo.accounts import demo_accounts
from annotation.demo.tour import tour_of
from annotation.models import Membership, Project, Rater, Rating, Role
from annotation.permissions import may_create_project
from annotation.progress.progress import Group, overall_progress
from annotation.rating.desk import start_of_day


@dataclass
class MyProject:
    """A project with one's roles in it: `progress` for members, `rater` and `rated_today` for raters."""

    project: Project
    roles: list[Role] = field(default_factory=list)
    progress: Group | None = None
    rater: Rater | None = None
    rated_today: int = 0


def archived_projects(user: User) -> list[Project]:
    """Return the archived projects that `user` manages or researches, by name."""
    return list(Project.objects.filter(memberships__user=user, archived_at__isnull=False).distinct())


def my_projects(user: User) -> list[MyProject]:
    """Return the projects of `user` by name, in a fixed number of queries, without archived ones."""
    parts: dict[int, MyProject] = {}
    current = {"user": user, "project__archived_at__isnull": True}
    for membership in Membership.objects.filter(**current).select_related("project").order_by("role"):
        part = parts.setdefault(membership.project_id, MyProject(membership.project))
        part.roles.append(Role(membership.role))
    progress = overall_progress([part.project for part in parts.values()])
    for pk, part in parts.items():
        part.progress = progress[pk]
    today = dict(
        Rating.objects.filter(rater__user=user, round__isnull=True, completed_at__gte=start_of_day())
        .values_list("rater")
        .annotate(Count("pk"))
    )
    for rater in Rater.objects.in_good_standing().filter(**current).select_related("project"):
        part = parts.setdefault(rater.project_id, MyProject(rater.project))
        part.roles.append(Role.ANNOTATOR)
        part.rater, part.rated_today = rater, today.get(rater.pk, 0)
    return sorted(parts.values(), key=lambda part: part.project.name.casefold())


@login_not_required
@require_safe
def favicon(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - a view gets the request
    """Redirect to the icon. Browsers request this address for files that are not pages."""
    return redirect(static("img/mark.svg"))


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show one's projects; to strangers the demo's accounts, the first steps, or the sign-in page."""
    if isinstance(request.user, User):
        context = {
            "parts": my_projects(request.user),
            "archived": archived_projects(request.user),
            "may_create": may_create_project(request.user),
            "tour": tour_of(request.user),
        }
        return render(request, "annotation/home/home.html", context)
    if accounts := demo_accounts(request):
        return render(request, "annotation/home/welcome.html", {"accounts": accounts})
    if not User.objects.exists():
        return render(request, "annotation/home/first_run.html")
    return redirect("sign_in")
