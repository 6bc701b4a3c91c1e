"""A form's field for each kind of parameter that an evaluator declares."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.models import Project
from scoring.judged_dimensions import Known
from scoring.members import NAME_LENGTH
from scoring.models import EvaluatorSetup
from scoring.params import ParamSpec, value_as_text

LONGEST_TEXT = 500  # characters of a parameter


def member_field(project: Project, spec: ParamSpec) -> forms.ChoiceField:
    """A choice among the evaluators that have scored the project, or of several of them."""
    setups = EvaluatorSetup.objects.filter(project=project).values_list("fingerprint", "label")
    choices = [(fingerprint[:NAME_LENGTH], label) for fingerprint, label in setups]
    help_text = spec.doc if choices else f"{spec.doc} There are none yet: start a run of one first."
    common: dict[str, Any] = {"label": in_words(spec), "help_text": help_text}
    if spec.type == "list":
        return forms.MultipleChoiceField(
            choices=choices, widget=forms.CheckboxSelectMultiple, required=spec.required, **common
        )
    return forms.ChoiceField(choices=choices, required=spec.required, **common)


def dimensions_field(spec: ParamSpec, known: Sequence[Known]) -> forms.Field:
    """A choice among the dimensions that can be judged without saying more of them."""
    choices = [(each.dimension.name, each.dimension.title) for each in known]
    return forms.MultipleChoiceField(
        choices=choices,
        widget=forms.CheckboxSelectMultiple,
        required=spec.required,
        label=in_words(spec),
        help_text=spec.doc.replace("; empty:", "; none ticked:"),
    )


def param_field(spec: ParamSpec, offers: str = "") -> forms.Field:
    """`offers` is the id of a list in the page from which a text is completed."""
    common: dict[str, Any] = {
        "label": in_words(spec),
        "help_text": spec.doc,
        "required": spec.required,
        "initial": None if spec.required else spec.default,
    }
    if spec.choices:
        common["initial"] = None if spec.required else value_as_text(spec.default)
        choices = [(value_as_text(choice), value_as_text(choice)) for choice in spec.choices]
        return forms.ChoiceField(choices=choices, **common)
    if spec.type == "yes/no":
        return forms.BooleanField(**{**common, "required": False})
    if spec.type == "integer":
        low, high = (None if bound is None else int(bound) for bound in (spec.low, spec.high))
        return forms.IntegerField(min_value=low, max_value=high, **common)
    if spec.type == "number":
        return forms.FloatField(min_value=spec.low, max_value=spec.high, **common)
    common["initial"] = None if spec.required else value_as_text(spec.default)
    if offers:
        # The default is not filled in, since a browser offers of a list only what begins as the field does.
        default = common.pop("initial")
        shown = {"list": offers, "placeholder": default or "", "spellcheck": "false"}
        common["widget"] = forms.TextInput(attrs=shown)
        if default:
            common["help_text"] = f"{spec.doc} Empty: {default}."
    return forms.CharField(max_length=LONGEST_TEXT, **common)


def in_words(spec: ParamSpec) -> str:
    return spec.name.replace("_", " ")
