"""The form of an export format, made from its declared options and the project's values."""

from collections.abc import Mapping

from django import forms
from django.utils.datastructures import MultiValueDict

from annotation.declared.form_fields import setting_field
from annotation.declared.settings import settings_of
from annotation.exports.exporter import Exporter
from annotation.exports.filters import filter_choices
from annotation.models import Project, Rater
from annotation.templatetags.texts import language_name


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

    def refuse(self, fields: Mapping[str, str]) -> None:
        for name, message in fields.items():
            self.add_error(name if name in self.fields else None, message)


def _words(name: str, value: str) -> str:
    if name == "language":
        return f"{language_name(value)} ({value})"
    return str(Rater.Status(value).label) if name == "rater_status" else value
