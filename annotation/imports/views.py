"""Importing files: upload, progress, what came of it, the errors as a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.db.models import F
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.declared.form_fields import setting_field
from annotation.declared.settings import settings_of
from annotation.errors import InvalidImport, NotFound
from annotation.imports.columns import constants_of, current_mapping, fields_by_column, first_rows, mapping_of
from annotation.imports.formats import IMPORTERS
from annotation.imports.jobs import (
    cancel_import,
    check_with_options,
    check_without_invalid_rows,
    load_checked,
    queue_import,
    rejected_rows_of,
)
from annotation.imports.questionnaires import project_is_in_use
from annotation.imports.reading.importer import Importer, importer_class
from annotation.imports.undoing import effect_of_undoing, is_undoable, undo_import
from annotation.imports.upload_limit import too_large_message, too_large_upload
from annotation.lookups import one_of
from annotation.models import ImportJob, Project
from annotation.permissions import Permission
from annotation.web.body_limits import takes_files
from annotation.web.csv_download import csv_download
from annotation.web.form_refusals import add_field_refusals
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


class ImportForm(forms.Form):
    file = forms.FileField(label="File", allow_empty_file=True)

    def __init__(
        self,
        importer: type[Importer],
        data: Mapping[str, str] | None = None,
        files: MultiValueDict[str, UploadedFile] | None = None,
    ) -> None:
        super().__init__(data, files, label_suffix="")
        self.importer = importer
        limit_mib = settings.UPLOAD_MAX_BYTES // 1024**2
        self.fields["file"].help_text = f"Plain or compressed with gzip (.gz), up to {limit_mib:,} MiB."
        if importer.companion:
            self.fields["second_file"] = forms.FileField(
                label=f"{importer.companion.label} (optional)",
                help_text=importer.companion.help,
                required=False,
                allow_empty_file=True,
            )
        for option in settings_of(importer.Options):
            self.fields[option.name] = setting_field(option)
        self.fields["dry_run"] = forms.BooleanField(
            label="Dry run",
            required=False,
            initial=True,
            help_text="Read the file and preview the import without storing anything.",
        )
        self.fields["skip_bad"] = forms.BooleanField(
            label="Skip invalid rows",
            required=False,
            help_text="You can download the skipped rows. Otherwise one invalid row stops the import.",
        )

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [self[option.name] for option in settings_of(self.importer.Options)]

    def options(self) -> dict[str, object]:
        """Return the format's options as `annotation.declared.settings.read_settings` takes them.

        A choice that was not sent, for example by a page from before an update, is left to its default.
        """
        return {
            option.name: self.cleaned_data[option.name]
            for option in settings_of(self.importer.Options)
            if self.cleaned_data[option.name] != "" or not option.choices
        }


KINDS = {
    "articles": "Articles",
    "systems": "Systems",
    "summaries": "Summaries",
    "references": "References",
    "raters": "Raters",
    "ratings": "Ratings",
    "answers": "Answers",
    "gold": "Gold summaries",
    "scores": "Scores",
}


HISTORY = ("articles", "summaries", "ratings", "gold", "scores")
"""Kinds in the table of past imports."""


@dataclass(frozen=True)
class Pace:
    """The speed at which rows are checked. Storing them is one step, without progress."""

    rows_a_second: float
    seconds_left: float


def pace(job: ImportJob, now: datetime) -> Pace | None:
    """Return the speed of an import, None before there is something to measure."""
    if job.started_at is None or not job.rows_read or not job.rows_total:
        return None
    elapsed = (now - job.started_at).total_seconds()
    if elapsed <= 0:
        return None
    rate = job.rows_read / elapsed
    return Pace(rate, (job.rows_total - job.rows_read) / rate)


def counts_of(job: ImportJob) -> dict[str, dict[str, int]]:
    """Return how many rows of each kind are new, present and filled."""
    counts = job.report.get("counts", {})
    return {title: counts[kind] for kind, title in KINDS.items() if kind in counts}


def needs_questionnaire(job: ImportJob) -> bool:
    """Return whether the project has to take on the proposed questionnaire, and can."""
    confirmed = job.options.get("create_questionnaire")
    return bool(job.report.get("questionnaire")) and not confirmed and not project_is_in_use(job.project)


def is_loadable(job: ImportJob) -> bool:
    """Return whether a dry run can be imported: as it is, without invalid rows, or with the questionnaire.

    A file without a valid row cannot, nor one whose valid rows are unknown because reading stopped.
    """
    rejected = job.report.get("rejected", 0) > 0
    hopeless = job.report.get("stopped") or (rejected and not job.report.get("has_valid_rows"))
    curable = job.status == ImportJob.Status.FAILED and (rejected or needs_questionnaire(job))
    return job.dry_run and not hopeless and (job.status == ImportJob.Status.DONE or curable)


def can_skip_after_check(job: ImportJob) -> bool:
    """Return whether a dry run stopped at too many problems and may go on without the invalid rows."""
    stopped = job.status == ImportJob.Status.FAILED and bool(job.report.get("too_many_problems"))
    return job.dry_run and stopped and not job.skip_bad


def can_choose_columns(job: ImportJob) -> bool:
    """Return whether a finished dry run has read a table whose columns may be chosen."""
    return job.dry_run and not job.is_unfinished and bool(job.report.get("table"))


@dataclass(frozen=True)
class ProblemKind:
    """The problems of a file whose field and expectation are the same, as entries of `ImportJob.errors`."""

    file: str
    field: str
    expected: str
    problems: list[Mapping[str, Any]]


def kinds_of(errors: Sequence[Mapping[str, Any]]) -> list[ProblemKind]:
    """Return the kinds of the problems, the most frequent first."""
    kinds: dict[tuple[str, str, str], ProblemKind] = {}
    for each in errors:
        key = (each["file"], each["field"], each["expected"])
        kinds.setdefault(key, ProblemKind(*key, [])).problems.append(each)
    return sorted(kinds.values(), key=lambda kind: -len(kind.problems))


DEFAULT_FORMAT = "examples"
JOBS_ON_A_PAGE = 20
KINDS_ON_A_PAGE = 25
ERROR_FIELDS = ("file", "line", "field", "found", "expected")


@takes_files
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the formats, the form of the chosen one, and past imports. POST queues an import."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    sent = request.method == "POST"
    chosen = (request.POST if sent else request.GET).get("format", DEFAULT_FORMAT)
    form = None
    if chosen in IMPORTERS:
        form = ImportForm(importer_class(chosen), *((request.POST, request.FILES) if sent else ()))
        _refuse_too_large(request, form)
        if sent and form.is_valid() and (job := _queued(request, project, form)):
            return redirect("import_job", slug, job.pk)
    jobs = project.imports.select_related("created_by").defer("errors", "report")
    jobs = jobs.annotate(invalid=F("report__rejected"), counts=F("report__counts"))
    page = Paginator(jobs, JOBS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "formats": [importer_class(name) for name in IMPORTERS],
        "form": form,
        "chosen": form.importer if form else None,
        "page": page,
        **_history(list(page)),
    }
    return render(request, "annotation/imports/imports.html", context, status=422 if sent else 200)


def _history(jobs: Sequence[Any]) -> dict[str, object]:
    """Return the jobs with their numbers of invalid and new rows, and the titles of the kinds of new rows."""
    counted = [job.counts or {} for job in jobs]
    kinds = [kind for kind in HISTORY if any(kind in counts for counts in counted)]
    rows = [
        (job, [job.invalid, *(counts.get(kind, {}).get("new") for kind in kinds)])
        for job, counts in zip(jobs, counted, strict=True)
    ]
    return {"kinds": [KINDS[kind] for kind in kinds], "jobs": rows}


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
        add_field_refusals(form, refused.fields)
        return None


def _refuse_too_large(request: SignedInRequest, form: ImportForm) -> None:
    field = too_large_upload(request)
    if field in form.fields:
        form.fields[field].required = False  # it was sent, and is not here
        form.add_error(field, too_large_message())


@require_safe
def import_job(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """Show a job. The page polls its fragment until the job has ended."""
    job = _job(request, slug, job_id)
    context = {
        "job": job,
        "ended": not job.is_unfinished,
        "pace": pace(job, timezone.now()),
        "counts": counts_of(job),
        "needs_questionnaire": needs_questionnaire(job),
        "loadable": is_loadable(job),
        "undoable": is_undoable(job),
        "why_not_undoable": effect_of_undoing(job).refusal if is_undoable(job) else "",
        "can_skip_after_check": can_skip_after_check(job),
        "can_choose_columns": can_choose_columns(job),
        "kinds": Paginator(kinds_of(job.errors), KINDS_ON_A_PAGE).get_page(request.GET.get("page")),
        "has_rejected_rows": job.status == ImportJob.Status.DONE and rejected_rows_of(job) is not None,
    }
    template = "annotation/imports/job.html#job" if request.htmx else "annotation/imports/job.html"
    return render(request, template, context)


@require_http_methods(["GET", "HEAD", "POST"])
def import_columns(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """Let the manager choose what each column of a dry run's table holds, and show the first rows.

    POST checks the file again with these columns.
    """
    job = _job(request, slug, job_id)
    if not can_choose_columns(job):
        raise NotFound("This import has no table whose columns can be chosen.")
    table, importer = job.report["table"], importer_class(job.format)
    mapping, errors = current_mapping(job), {}
    chosen = fields_by_column(mapping, table["columns"], importer.mapped_fields)
    if request.method == "POST":
        sent = {name: request.POST.get(f"column-{place}", "") for place, name in enumerate(table["columns"])}
        chosen = {name: ours if ours in importer.mapped_fields else "" for name, ours in sent.items()}
        try:
            mapping = mapping_of(chosen, importer, constants_of(mapping))
        except InvalidImport as wrong:
            errors = wrong.fields
        else:
            if "check" in request.POST:
                checking = check_with_options(job, request.user, map=mapping)
                messages.success(request, f"Dry run of {checking.file_name} with these columns started.")
                return redirect("import_job", slug, checking.pk)
    rows = [] if errors else first_rows(job, mapping)
    names = list(dict.fromkeys(name for row in rows for name in row))
    samples = list(zip(*table["rows"], strict=True)) or [() for _ in table["columns"]]
    context = {
        "job": job,
        "fields": [(field, field.replace("_", " ")) for field in importer.mapped_fields],
        "may_be_wide": importer.may_be_wide,
        "several": importer.several,
        "columns": [
            (name, seen, chosen.get(name, ""), errors.get(name, ""))
            for name, seen in zip(table["columns"], samples, strict=True)
        ],
        "constants": constants_of(mapping),
        "names": [name.replace("_", " ") for name in names],
        "rows": [[row.get(name, "") for name in names] for row in rows],
    }
    return render(request, "annotation/imports/columns.html", context, status=422 if errors else 200)


@require_POST
def import_load(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """Import the files of a dry run, or check them once more without their invalid rows."""
    job = _job(request, slug, job_id)
    if "check" in request.POST:
        checking = check_without_invalid_rows(job, request.user)
        messages.success(request, f"Dry run of {checking.file_name} without invalid rows started.")
        return redirect("import_job", slug, checking.pk)
    confirmed = {"create_questionnaire": True} if "create_questionnaire" in request.POST else {}
    loading = load_checked(
        job, request.user, skip_bad=job.skip_bad or "skip_bad" in request.POST, **confirmed
    )
    messages.success(request, f"Import of {loading.file_name} started.")
    return redirect("import_job", slug, loading.pk)


@require_POST
def import_cancel(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    job = _job(request, slug, job_id)
    cancel_import(job, request.user)
    messages.success(request, f"Import of {job.file_name} cancelled. Nothing was stored.")
    return redirect("import_job", slug, job_id)


@require_http_methods(["GET", "HEAD", "POST"])
def import_undo(request: SignedInRequest, slug: str, job_id: int) -> HttpResponse:
    """Show what undoing the import deletes, or why it cannot be undone. POST undoes it."""
    job = _job(request, slug, job_id)
    if request.method == "POST":
        undo_import(job, request.user)
        messages.success(request, f"Import of {job.file_name} undone.")
        return redirect("import_job", slug, job_id)
    context = {
        "job": job,
        "effect": effect_of_undoing(job),
        "undoable": is_undoable(job),
        "filled": [name for name, row in counts_of(job).items() if row["filled"]],
    }
    return render(request, "annotation/imports/undo.html", context)


@require_safe
def import_errors(request: SignedInRequest, slug: str, job_id: int) -> StreamingHttpResponse:
    """Send all errors of a job as CSV."""
    job = _job(request, slug, job_id)
    rows = ([error[field] for field in ERROR_FIELDS] for error in job.errors)
    return csv_download(f"import-{job.pk}-errors.csv", chain([ERROR_FIELDS], rows))


@require_safe
def import_rejects(request: SignedInRequest, slug: str, job_id: int) -> HttpResponseBase:
    """Send the skipped rows of a job with their problems, as JSONL."""
    job = _job(request, slug, job_id)
    path = rejected_rows_of(job)
    if path is None:
        raise NotFound("This import skipped no rows.")
    return FileResponse(
        path.open("rb"),
        as_attachment=True,
        filename=f"import-{job.pk}-rejected.jsonl",
        content_type="application/x-ndjson",
    )


def _job(request: SignedInRequest, slug: str, job_id: int) -> ImportJob:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    return one_of(project.imports.select_related("project", "created_by"), job_id, "import")
