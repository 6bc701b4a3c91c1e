"""Pages of projects: the home page, a new project or questionnaire, settings and publishing."""

from copy import copy
from dataclasses import dataclass, field

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import DomainError, NotAllowed
from annotation.models import Membership, Project, Rater, Rating, Role
from annotation.permissions import Permission, may_create_project
from annotation.progress.progress import Group, overall_progress
from annotation.projects.forms import ProjectForm, SettingsForm
from annotation.projects.questionnaire_form import QuestionFormSet, QuestionnaireForm, defined
from annotation.projects.settings import (
    change_settings,
    create_project,
    publish_results,
    store_questionnaire,
    unpublish_results,
)
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


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
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    today = dict(
        Rating.objects.filter(rater__user=user, round__isnull=True, completed_at__gte=midnight)
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
    if isinstance(request.user, User):
        context = {
            "parts": my_projects(request.user),
            "archived": archived_projects(request.user),
            "may_create": may_create_project(request.user),
        }
        return render(request, "annotation/projects/home.html", context)
    if not User.objects.exists():
        return render(request, "annotation/projects/first_run.html")
    return redirect("sign_in")


@require_http_methods(["GET", "HEAD", "POST"])
def project_new(request: SignedInRequest) -> HttpResponse:
    if not may_create_project(request.user):
        raise NotAllowed("Only administrators and managers can create projects. Ask one of them.")
    sent = request.POST if request.method == "POST" else None
    form = ProjectForm(sent, questionnaire=request.GET.get("questionnaire", ""))
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            project = create_project(
                chosen["name"],
                form.chosen_questionnaire(),
                request.user,
                slug=chosen["slug"],
                redundancy=chosen["redundancy"],
            )
        except DomainError as refused:
            form.add_error("slug", str(refused))
        else:
            messages.success(request, f"Project “{project}” created. You are its manager.")
            return redirect("progress", project.slug)
    return render(request, "annotation/projects/new.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def project_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    form = SettingsForm(copy(project), request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            affected = change_settings(project, form.changes())
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            summaries = "1 summary now needs" if affected == 1 else f"{affected:,} summaries now need"
            needs = f" {summaries} a different number of ratings." if affected else ""
            messages.success(request, f"Settings saved.{needs}")
            return redirect("project_settings", slug)
    addresses = [
        (title, request.build_absolute_uri(reverse(name, args=[slug])))
        for title, name in (("Comparison", "comparison"), ("Agreement", "agreement"))
    ]
    context = {"form": form, "public_addresses": addresses}
    return render(request, "annotation/projects/settings.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def results_publish(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    if request.method == "POST":
        publish_results(project, request.user)
        messages.success(request, "Results published. Anybody with the address can read them.")
        return redirect("project_settings", slug)
    return render(request, "annotation/projects/results_publish.html")


@require_POST
def results_unpublish(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    unpublish_results(project, request.user)
    messages.success(request, "Results unpublished. Only managers and researchers can read them.")
    return redirect("project_settings", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def questionnaire_new(request: SignedInRequest) -> HttpResponse:
    if not may_create_project(request.user):
        raise NotAllowed("Only administrators and managers can define questionnaires. Ask one of them.")
    sent = request.POST if request.method == "POST" else None
    form = QuestionnaireForm(sent, label_suffix="")
    questions = QuestionFormSet(sent, form_kwargs={"label_suffix": ""})
    if sent is not None and form.is_valid() and questions.is_valid():
        try:
            stored = store_questionnaire(defined(form, questions))
        except (DomainError, ValueError) as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"“{stored.title}” created. You can now choose it.")
            return redirect(f"{reverse('project_new')}?questionnaire={stored.key}")
    context = {"form": form, "questions": questions}
    status = 200 if sent is None else 422
    return render(request, "annotation/projects/questionnaire_new.html", context, status=status)
