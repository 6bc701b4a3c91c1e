"""The upload form of an import format, made from its declared options."""

from collections.abc import Mapping

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from annotation.declared.form_fields import setting_field
from annotation.declared.settings import settings_of
from annotation.imports.reading.importer import Importer


class ImportForm(forms.Form):
    file = forms.FileField(
        label="File", help_text="Plain or compressed with gzip (.gz).", allow_empty_file=True
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

    def refuse(self, fields: Mapping[str, str]) -> None:
        for name, message in fields.items():
            self.add_error(name if name in self.fields else None, message)
