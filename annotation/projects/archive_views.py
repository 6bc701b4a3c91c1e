"""Pages that archive a project, restore it and delete it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import InvalidFields
from annotation.permissions import Permission
from annotation.projects.archiving import archive_project, restore_project
from annotation.projects.closing import open_leases
from annotation.projects.deleting import counts_below, delete_project
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_http_methods(["GET", "HEAD", "POST"])
def project_archive(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.CLOSE_PROJECT)
    if request.method == "POST":
        archive_project(project, request.user)
        messages.success(request, f"{project} archived. You can restore it at any time.")
        return redirect("project_archived", slug)
    return render(request, "annotation/projects/archive.html", {"leases": open_leases(project).count()})


@require_safe
def project_archived(request: SignedInRequest, slug: str) -> HttpResponse:
    open_project(request, slug, Permission.CLOSE_PROJECT)
    return render(request, "annotation/projects/archived.html")


@require_POST
def project_restore(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.CLOSE_PROJECT)
    restore_project(project, request.user)
    messages.success(request, f"{project} restored.")
    return redirect("progress", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def project_delete(request: SignedInRequest, slug: str) -> HttpResponse:
    """Ask for the slug of an archived project, and delete the project."""
    project = open_project(request, slug, Permission.CLOSE_PROJECT)
    typed, error = request.POST.get("slug", ""), ""
    if request.method == "POST":
        try:
            delete_project(project, request.user, typed)
        except InvalidFields as refused:
            error = refused.fields["slug"]
        else:
            messages.success(request, f"{project} deleted.")
            return redirect("home")
    context = {"counts": counts_below(project), "typed": typed, "error": error}
    return render(request, "annotation/projects/delete.html", context, status=422 if error else 200)
