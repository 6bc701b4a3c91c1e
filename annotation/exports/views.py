"""Exporting: the formats with their filters, and the file, which is sent while it is read."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.declared.settings import SettingsRefused
from annotation.exports.exporter import Exporter, exporter_class, formats_for, open_export_for
from annotation.exports.forms import ExportForm
from annotation.models import Project, Rating
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_safe
def exports(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the formats, and the form of the chosen one, or else of the first."""
    project = open_project(request, slug, Permission.EXPORT_SCORES)
    formats = formats_for(project)
    chosen = next((each for each in formats if each.name == request.GET.get("format")), formats[0])
    return _page(request, project, ExportForm(project, chosen))


@require_safe
def export_file(request: SignedInRequest, slug: str, format_name: str) -> HttpResponseBase:
    """Send a file, or the form with its errors."""
    project = open_project(request, slug, Permission.EXPORT_SCORES)
    form = ExportForm(project, exporter_class(format_name), request.GET)
    if form.is_valid():
        try:
            return download(open_export_for(request.user, project, format_name, form.given()))
        except SettingsRefused as refused:
            form.refuse(refused.fields)
    return _page(request, project, form, status=422)


def download(export: Exporter) -> StreamingHttpResponse:
    """Return a response that sends the file while it is read."""
    response = StreamingHttpResponse(export.chunks(), content_type=export.content_type)
    response["Content-Disposition"] = f'attachment; filename="{export.file_name}"'
    return response


def _page(request: HttpRequest, project: Project, form: ExportForm, status: int = 200) -> HttpResponse:
    context = {
        "formats": formats_for(project),
        "chosen": form.exporter,
        "form": form,
        "summaries": project.summaries.count(),
        "ratings": Rating.objects.countable().filter(summary__project=project).count(),
        "manages": Permission.MANAGE_PROJECT in project.reader_may,
    }
    return render(request, "annotation/exports.html", context, status=status)
