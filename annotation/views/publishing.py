"""Publishing a project's results, which asks first, and taking them back, which does not."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions.publishing import publish_results, unpublish_results
from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def results_publish(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    if request.method == "POST":
        publish_results(project, request.user)
        messages.success(request, "The results are published: anybody who has the address can read them.")
        return redirect("project_settings", slug)
    return render(request, "annotation/results_publish.html")


@login_required
@require_POST
def results_unpublish(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    unpublish_results(project, request.user)
    messages.success(request, "The results are closed again: only managers and researchers can read them.")
    return redirect("project_settings", slug)
