"""The filters of the audit log."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.audit.actions import Action
from annotation.audit.entries import actors_of
from annotation.models import Project
from annotation.web.form_choices import offer


class AuditFilterForm(forms.Form):
    action = forms.ChoiceField(required=False, choices=[("", "all"), *Action.choices])
    actor = forms.ChoiceField(label="Person", required=False)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, project: Project, data: Mapping[str, str]) -> None:
        super().__init__(data, auto_id="filter_%s", label_suffix="")
        offer(self, "actor", [("", "all"), *((name, name) for name in actors_of(project))])

    def filters(self) -> dict[str, Any]:
        """Return the filters of `find_entries`. A field with an invalid value admits all entries."""
        self.is_valid()
        return self.cleaned_data
