"""Creating a project and changing its settings."""

from copy import copy

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.actions.projects import change_settings, create_project
from annotation.context import open_project
from annotation.errors import DomainError, NotAllowed
from annotation.manager_forms.projects import ProjectForm, SettingsForm
from annotation.permissions import Permission, may_create_project
from annotation.signed_in import SignedInRequest


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_new(request: SignedInRequest) -> HttpResponse:
    if not may_create_project(request.user):
        raise NotAllowed("Administrators and managers of a project create projects. Ask one of them.")
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
            messages.success(request, f"{project} is there, and you are its manager.")
            return redirect("progress", project.slug)
    return render(request, "annotation/project_new.html", {"form": form}, status=422 if form.errors else 200)


@never_cache
@login_required
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
            messages.success(request, _outcome(affected))
            return redirect("project_settings", slug)
    addresses = [
        (title, request.build_absolute_uri(reverse(name, args=[slug])))
        for title, name in (("Meta-evaluation", "metaeval"), ("Agreement", "agreement"))
    ]
    context = {"form": form, "public_addresses": addresses}
    return render(request, "annotation/project_settings.html", context, status=422 if form.errors else 200)


def _outcome(affected: int) -> str:
    if not affected:
        return "The settings are kept."
    summaries = "1 summary wants" if affected == 1 else f"{affected:,} summaries want"
    return f"The settings are kept. {summaries} another number of ratings now."
