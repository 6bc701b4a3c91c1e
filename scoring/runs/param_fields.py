"""Form fields of parameters whose choices depend on the project."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.declared.settings import Setting
from annotation.models import Project
from scoring.dimensions.project_dimensions import KnownDimension
from scoring.inputs.members import NAME_LENGTH
from scoring.models import Setup


def member_field(project: Project, spec: Setting) -> forms.ChoiceField:
    """Return a choice of one or several of the project's setups."""
    setups = Setup.objects.filter(project=project).values_list("fingerprint", "label")
    choices = [(fingerprint[:NAME_LENGTH], label) for fingerprint, label in setups]
    help_text = spec.help if choices else f"{spec.help} There are none yet: run one first."
    common: dict[str, Any] = {"label": spec.label, "help_text": help_text}
    if spec.type == "list":
        return forms.MultipleChoiceField(
            choices=choices, widget=forms.CheckboxSelectMultiple, required=spec.required, **common
        )
    return forms.ChoiceField(choices=choices, required=spec.required, **common)


def dimensions_field(spec: Setting, known: Sequence[KnownDimension]) -> forms.Field:
    """Return a choice of the dimensions that a run need not describe."""
    choices = [(each.dimension.name, each.dimension.title) for each in known]
    return forms.MultipleChoiceField(
        choices=choices,
        widget=forms.CheckboxSelectMultiple,
        required=spec.required,
        label=spec.label,
        help_text=spec.help.replace("; empty:", "; none ticked:"),
    )
