"""Uploading a file for import: the form of one format, made from what the format declares."""

from collections.abc import Mapping

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from annotation.importers.importer import Importer
from annotation.importers.options import Option


class ImportForm(forms.Form):
    file = forms.FileField(
        label="File", help_text="As it is, or compressed with gzip (.gz).", allow_empty_file=True
    )

    def __init__(
        self,
        importer: type[Importer],
        data: Mapping[str, str] | None = None,
        files: MultiValueDict[str, UploadedFile] | None = None,
    ) -> None:
        super().__init__(data, files, label_suffix="")
        self.importer = importer
        if importer.companion:
            self.fields["second_file"] = forms.FileField(
                label=f"{importer.companion.label} (optional)",
                help_text=importer.companion.help,
                required=False,
                allow_empty_file=True,
            )
        for option in importer.options:
            self.fields[option.name] = _field(option)
        self.fields["dry_run"] = forms.BooleanField(
            label="Dry run",
            required=False,
            initial=True,
            help_text="Check the whole file and say what it would bring, without loading anything.",
        )
        self.fields["skip_bad"] = forms.BooleanField(
            label="Leave out wrong rows",
            required=False,
            help_text="Otherwise one wrong row refuses the file. Rows left out can be downloaded.",
        )

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [self[option.name] for option in self.importer.options]

    def options(self) -> dict[str, object]:
        """The format's options as `annotation.importers.options.read_options` takes them."""
        return {option.name: self.cleaned_data[option.name] for option in self.importer.options}

    def refuse(self, fields: Mapping[str, str]) -> None:
        for name, message in fields.items():
            self.add_error(name if name in self.fields else None, message)


def _field(option: Option) -> forms.Field:
    if option.kind == "flag":
        return forms.BooleanField(
            label=option.label, help_text=option.help, required=False, initial=option.default
        )
    if option.kind == "choice":
        return forms.ChoiceField(
            label=option.label,
            help_text=option.help,
            choices=[(choice, choice) for choice in option.choices],
            initial=option.default,
        )
    if option.kind == "pairs":
        return forms.CharField(
            label=option.label,
            help_text=f"{option.help} One a line.",
            required=False,
            initial="\n".join(option.default),
            widget=forms.Textarea(attrs={"rows": 3}),
        )
    initial = ", ".join(option.default) if option.kind == "list" else option.default
    separated = " Separated by commas." if option.kind == "list" else ""
    return forms.CharField(
        label=option.label, help_text=f"{option.help}{separated}", required=False, initial=initial
    )
