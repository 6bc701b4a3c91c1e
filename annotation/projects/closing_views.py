"""Pages that close a campaign and reopen it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.permissions import Permission
from annotation.projects.closing import close_campaign, open_leases, reopen_campaign
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_close(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    if request.method == "POST":
        close_campaign(project, request.user)
        messages.success(request, "Campaign closed. Its ratings are final.")
        return redirect("project_settings", slug)
    return render(
        request, "annotation/projects/campaign_close.html", {"leases": open_leases(project).count()}
    )


@require_POST
def campaign_reopen(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    reopen_campaign(project, request.user)
    messages.success(request, "Campaign reopened. Raters can rate again.")
    return redirect("project_settings", slug)
