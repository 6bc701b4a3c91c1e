"""The API's exports: the list of formats, and the files."""

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.declared.settings import Setting, SettingsRefused, settings_of, value_as_json
from annotation.errors import DomainError
from annotation.exports.exporter import CONTENT_TYPES, Exporter, exporter_class, formats_for, open_export_for
from annotation.exports.views import download
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import REFUSALS, read_only


class ExportOptionSerializer(serializers.Serializer):
    name = serializers.CharField(help_text="The parameter of the file's address.")
    type = serializers.CharField(help_text="yes/no, text or list; a list's parameter is repeatable.")
    help = serializers.CharField()
    choices = serializers.ListField(
        child=serializers.CharField(), help_text="Allowed values; empty if any value is allowed."
    )
    default = serializers.JSONField()


class ExportFormatSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    options = ExportOptionSerializer(many=True)


class ExportFormatListSerializer(serializers.Serializer):
    results = ExportFormatSerializer(many=True)


@extend_schema(operation_id="exports_list", responses={200: ExportFormatListSerializer, **REFUSALS})
@read_only
def export_list(request: Request, slug: str) -> Response:
    """List the formats in which you may export this project, with their options."""
    project = project_for(request.user, slug, Permission.EXPORT_SCORES)
    results = [
        {
            "name": each.name,
            "title": each.title,
            "description": each.description,
            "options": [
                _described(option, each.project_options(project)) for option in settings_of(each.Options)
            ],
        }
        for each in formats_for(project)
    ]
    return Response(ExportFormatListSerializer({"results": results}).data)


@extend_schema(
    operation_id="exports_retrieve",
    parameters=[
        OpenApiParameter(name, str, many=True, description=f"Only this {word}. Repeatable.")
        for name, word in (
            ("language", "language"),
            ("dataset", "dataset"),
            ("system", "system"),
            ("rater_status", "rater status; without it, all but removed raters"),
        )
    ],
    responses={**{(200, each): OpenApiTypes.BINARY for each in CONTENT_TYPES}, **REFUSALS},
)
@read_only
def export_detail(request: Request, slug: str, format_name: str) -> HttpResponseBase:
    """Send a file in this format. Further parameters are the format's options, as the list gives them."""
    project = project_for(request.user, slug, Permission.EXPORT_SCORES)
    try:
        given = _given(request, exporter_class(format_name))
        return download(open_export_for(request.user, project, format_name, given))
    except SettingsRefused as refused:
        raise DomainError("; ".join(f"{name}: {why}" for name, why in refused.fields.items())) from None


def _given(request: Request, exporter: type[Exporter]) -> dict[str, object]:
    """Return the parameters. Raises SettingsRefused for one given twice that is no list."""
    lists = {option.name for option in settings_of(exporter.Options) if option.type == "list"}
    given = {name: request.query_params.getlist(name) for name in request.query_params}
    twice = {name: "given twice" for name, values in given.items() if len(values) > 1 and name not in lists}
    if twice:
        raise SettingsRefused(twice)
    return {name: values if name in lists else values[0] for name, values in given.items()}


def _described(option: Setting, project_options: dict[str, object]) -> dict[str, object]:
    return {
        "name": option.name,
        "type": option.type,
        "help": option.help,
        "choices": list(option.choices),
        "default": value_as_json(project_options.get(option.name, option.default)),
    }
