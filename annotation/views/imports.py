"""Importing files: upload, progress, what came of it, the errors as a file."""

import csv
from collections.abc import Iterator

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions.import_jobs import load_checked, queue_import, rejected_rows_of
from annotation.context import open_project
from annotation.errors import InvalidImport, NotFound
from annotation.import_outcome import has_ended, outcome_of, pace
from annotation.importers import IMPORTERS
from annotation.importers.importer import Importer, importer_class
from annotation.lookups import one_of
from annotation.manager_forms.imports import ImportForm
from annotation.models import ImportJob, Project
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest
from annotation.spreadsheet import plain_cell
from annotation.uploads import too_large_upload

JOBS_ON_A_PAGE = 20
ERRORS_ON_A_PAGE = 100
ERROR_FIELDS = ("file", "line", "field", "found", "expected")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: SignedInRequest, slug: str) -> HttpResponse:
    """The formats, the chosen one's form, and the project's imports."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    sent = request.method == "POST"
    chosen = (request.POST if sent else request.GET).get("format", "")
    form = None
    if chosen in IMPORTERS:
        form = ImportForm(importer_class(chosen), *((request.POST, request.FILES) if sent else ()))
        _refuse_too_large(request, form)
        if sent and form.is_valid() and (job := _queued(request, project, form)):
            return redirect("import_job", slug, job.pk)
    jobs = project.imports.select_related("created_by").defer("errors", "report")
    page = Paginator(jobs, JOBS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "formats": [_format(importer_class(name)) for name in IMPORTERS],
        "form": form,
        "chosen": _format(form.importer) if form else None,
        "page": page,
        "limit_mib": settings.UPLOAD_MAX_BYTES // 1024**2,
    }
    return render(request, "annotation/imports.html", context, status=422 if sent else 200)


def _format(importer: type[Importer]) -> dict[str, str]:
    """A format for the template, which would call a class."""
    return {"name": importer.name, "title": importer.title, "description": importer.description}


def _queued(request: SignedInRequest, project: Project, form: ImportForm) -> ImportJob | None:
    sent = form.cleaned_data
    try:
        return queue_import(
            project,
            request.user,
            form.importer.name,
            sent["file"],
            sent.get("second_file"),
            form.options(),
            dry_run=sent["dry_run"],
            skip_bad=sent["skip_bad"],
        )
    except InvalidImport as refused:
        form.refuse(refused.fields)
        return None


def _refuse_too_large(request: SignedInRequest, form: ImportForm) -> None:
    field = too_large_upload(request)
    if field in form.fields:
        form.fields[field].required = False  # it was sent, and is not here
        limit = settings.UPLOAD_MAX_BYTES // 1024**2
        form.add_error(field, f"The file is over {limit} MiB. Compress it with gzip, or split it.")


@never_cache
@login_required
@require_safe
def import_job(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """The job's page; it polls its own part until the job has ended."""
    job = _job(request, slug, job_id)
    ended = has_ended(job)
    context = {
        "job": job,
        "ended": ended,
        "pace": pace(job, timezone.now()),
        "outcome": outcome_of(job) if ended else None,
        "errors": Paginator(job.errors, ERRORS_ON_A_PAGE).get_page(request.GET.get("page")),
        "has_rejected_rows": ended and rejected_rows_of(job) is not None,
    }
    template = "annotation/import_job.html#job" if request.htmx else "annotation/import_job.html"
    return render(request, template, context)


@login_required
@require_POST
def import_load(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """Load what a dry run has checked."""
    job = _job(request, slug, job_id)
    confirmed = {"create_questionnaire": True} if "create_questionnaire" in request.POST else {}
    loading = load_checked(
        job, request.user, skip_bad=job.skip_bad or "skip_bad" in request.POST, **confirmed
    )
    messages.success(request, f"{loading.file_name} is being loaded.")
    return redirect("import_job", slug, loading.pk)


@login_required
@require_safe
def import_errors(request: SignedInRequest, slug: str, job_id: int) -> StreamingHttpResponse:
    """All errors of a job as CSV."""
    job = _job(request, slug, job_id)
    response = StreamingHttpResponse(_error_lines(job), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="import-{job.pk}-errors.csv"'
    return response


class _Echo:
    """What `csv.writer` writes to when its lines are sent on at once."""

    def write(self, line: str) -> str:
        return line


def _error_lines(job: ImportJob) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(ERROR_FIELDS)
    for error in job.errors:
        yield writer.writerow([plain_cell(str(error[field])) for field in ERROR_FIELDS])


@login_required
@require_safe
def import_rejects(request: SignedInRequest, slug: str, job_id: int) -> HttpResponseBase:
    """The rows that a job left out, with what is wrong with them, as JSONL."""
    job = _job(request, slug, job_id)
    path = rejected_rows_of(job)
    if path is None:
        raise NotFound("This import left out no rows.")
    return FileResponse(
        path.open("rb"),
        as_attachment=True,
        filename=f"import-{job.pk}-rejected.jsonl",
        content_type="application/x-ndjson",
    )


def _job(request: SignedInRequest, slug: str, job_id: int) -> ImportJob:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    return one_of(project.imports.select_related("project", "created_by"), job_id, "import")
