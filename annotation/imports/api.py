"""The API's imports: sending a file, and what became of it."""

from typing import Any, cast

from django.http import QueryDict
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.decorators import parser_classes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.errors import NotFound
from annotation.imports.formats import IMPORTERS
from annotation.imports.jobs import queue_import
from annotation.imports.reading.importer import importer_class
from annotation.imports.upload_limit import too_large_message, too_large_upload
from annotation.imports.views import ImportForm, counts_of
from annotation.models import ImportJob
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import REFUSALS, for_members, one_of, read_only, refuse_fields
from annotation.web.body_limits import takes_files
from annotation.web.idempotency import CREATION_REFUSALS, KEY_PARAMETER, answer_once
from annotation.web.request_types import SignedInApiRequest

MOST_PROBLEMS = 200
"""Problems that a response lists. The import's page has all of them."""


class NewImportSerializer(serializers.Serializer):
    """The form's fixed fields. A format's options are further ones."""

    format = serializers.ChoiceField(choices=list(IMPORTERS))
    file = serializers.FileField(help_text="Plain or compressed with gzip.")
    second_file = serializers.FileField(required=False, help_text="The format's companion, as on the page.")
    dry_run = serializers.BooleanField(default=False, help_text="True to check the file and store nothing.")
    skip_bad = serializers.BooleanField(default=False, help_text="True to leave out invalid rows.")


class ImportProblemSerializer(serializers.Serializer):
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    field = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()


class ImportSerializer(serializers.ModelSerializer):
    counts = serializers.SerializerMethodField(help_text="Rows by kind: new, present and filled.")
    problems = serializers.SerializerMethodField(help_text=f"The first {MOST_PROBLEMS} problems of the file.")
    problem_count = serializers.SerializerMethodField()

    class Meta:
        model = ImportJob
        fields: tuple[str, ...] = (
            "id",
            "format",
            "file_name",
            "dry_run",
            "skip_bad",
            "status",
            "failure",
            "rows_read",
            "rows_total",
            "created_at",
            "counts",
            "problem_count",
            "problems",
        )
        read_only_fields = fields

    def get_counts(self, job: ImportJob) -> dict[str, dict[str, int]]:
        return {title.lower(): tally for title, tally in counts_of(job).items()}

    def get_problem_count(self, job: ImportJob) -> int:
        return len(job.errors)

    def get_problems(self, job: ImportJob) -> list[dict[str, Any]]:
        return list(ImportProblemSerializer(job.errors[:MOST_PROBLEMS], many=True).data)


@extend_schema(
    operation_id="imports_create",
    request={"multipart/form-data": NewImportSerializer},
    parameters=[KEY_PARAMETER],
    responses={202: ImportSerializer, **CREATION_REFUSALS},
    examples=[
        OpenApiExample(
            "Request",
            value={"format": "examples", "file": "news.jsonl", "dry_run": True},
            request_only=True,
            media_type="multipart/form-data",
        )
    ],
)
@takes_files
@for_members("POST")
@parser_classes([MultiPartParser])
def import_new(request: SignedInApiRequest, slug: str) -> Response:
    """Queue an import of a file. Ask for the import until its `status` is done or failed."""
    project = project_for(request.user, slug, Permission.MANAGE_PROJECT)
    sent = cast(QueryDict, request.data)  # of a form
    chosen = importer_class(one_of("format", sent.get("format", ""), list(IMPORTERS)))
    form = ImportForm(chosen, sent, request.FILES)
    expected = ["format", *form.fields]
    refuse_fields(
        {name: [f"unknown; expected one of {', '.join(expected)}"] for name in sent if name not in expected}
    )
    too_large = too_large_upload(request._request)
    refuse_fields({too_large: [too_large_message()]} if too_large else form.errors)

    def create() -> Response:
        job = queue_import(
            project,
            request.user,
            chosen.name,
            form.cleaned_data["file"],
            form.cleaned_data.get("second_file"),
            {name: value for name, value in form.options().items() if name in sent},
            dry_run=form.cleaned_data["dry_run"],
            skip_bad=form.cleaned_data["skip_bad"],
        )
        return Response(ImportSerializer(job).data, status=202)

    return answer_once(request, create)


@extend_schema(operation_id="imports_retrieve", responses={200: ImportSerializer, **REFUSALS})
@read_only
def import_detail(request: Request, slug: str, job_id: int) -> Response:
    """Return an import: whether it is done, how many rows it stored, and the problems of its file."""
    project = project_for(request.user, slug, Permission.MANAGE_PROJECT)
    job = project.imports.filter(pk=job_id).first()
    if job is None:
        raise NotFound("There is no such import.")
    return Response(ImportSerializer(job).data)
