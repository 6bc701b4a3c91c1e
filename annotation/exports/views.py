"""Exporting: the formats with their filters, and the file, which is sent while it is read."""

from django import forms
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_safe

from annotation.declared.form_fields import setting_field
from annotation.declared.settings import SettingsRefused, settings_of
from annotation.exports.exporter import Exporter, exporter_class, formats_for, open_export_for
from annotation.exports.filters import filter_choices
from annotation.models import Project, Rater, Rating
from annotation.permissions import Permission
from annotation.templatetags.texts import language_name
from annotation.web.form_refusals import add_field_refusals
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


class ExportForm(forms.Form):
    """Filters as check boxes, without those of which the project has a single value; then the options."""

    def __init__(
        self, project: Project, exporter: type[Exporter], data: MultiValueDict[str, str] | None = None
    ) -> None:
        super().__init__(data, initial=exporter.project_options(project), label_suffix="")
        self.exporter = exporter
        self.warning = exporter.warning(project)
        declared = {option.name: option for option in settings_of(exporter.Options)}
        for name, values in filter_choices(project).items():
            option = declared.pop(name, None)
            if option and len(values) > 1:
                self.fields[name] = forms.MultipleChoiceField(
                    label=option.label,
                    help_text=option.help,
                    required=False,
                    choices=[(value, _words(name, value)) for value in values],
                    widget=forms.CheckboxSelectMultiple,
                )
        for option in declared.values():
            self.fields[option.name] = setting_field(option)
            self.fields[option.name].required = False

    @property
    def filters(self) -> list[forms.BoundField]:
        return [field for field in self if isinstance(field.field, forms.MultipleChoiceField)]

    @property
    def options(self) -> list[forms.BoundField]:
        return [field for field in self if not isinstance(field.field, forms.MultipleChoiceField)]

    def given(self) -> dict[str, object]:
        """Return the options that were chosen, as `open_export` takes them.

        An empty field leaves an option out, unless the project's settings had filled it in.
        """
        emptied = self.initial.keys() & self.data.keys()
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if value not in ("", None, []) or name in emptied
        }


def _words(name: str, value: str) -> str:
    if name == "language":
        return f"{language_name(value)} ({value})"
    return str(Rater.Status(value).label) if name == "rater_status" else value


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
            add_field_refusals(form, refused.fields)
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
    return render(request, "annotation/exports/exports.html", context, status=status)
