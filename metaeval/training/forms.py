"""The form of a new training: a name, and the method's declared parameters."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.declared.form_fields import setting_field
from annotation.declared.settings import Setting, settings_of
from annotation.models import Project
from scoring.inputs.offered_models import models_on_offer
from scoring.runs.forms import WEIGHTS_HERE, ParameterGroup
from scoring.trainers.contract import Trainer

FIRST_GROUP = "Method"
"""The heading above parameters without one."""


class TrainingForm(forms.Form):
    """A new training. Parameters are fields named `param_<name>`; an empty one keeps its default."""

    name = forms.CharField(
        required=False,
        max_length=60,
        help_text="The model's name. Empty: project and method.",
    )

    def __init__(self, project: Project, trainer: type[Trainer], data: Any = None) -> None:
        super().__init__(data)
        self._project = project
        self._specs = settings_of(trainer.Params)
        for spec in self._specs:
            self.fields[f"param_{spec.name}"] = self._field(spec)

    def _field(self, spec: Setting) -> forms.Field:
        if spec.name == "dimensions":
            return self._dimensions_field(spec)
        return setting_field(spec, WEIGHTS_HERE if spec.is_weights else "")

    def _dimensions_field(self, spec: Setting) -> forms.Field:
        asked = self._project.questionnaire.questions.values_list("dimension", "title")
        return forms.MultipleChoiceField(
            choices=list(asked),
            widget=forms.CheckboxSelectMultiple,
            required=spec.required,
            label=spec.label,
            help_text=spec.help,
        )

    def groups(self) -> list[ParameterGroup]:
        """Return all parameters by heading, the first group open."""
        titles = dict.fromkeys(spec.group or FIRST_GROUP for spec in self._specs)
        found = []
        for title in sorted(titles, key=lambda each: each != FIRST_GROUP):
            fields = [
                self[f"param_{spec.name}"] for spec in self._specs if (spec.group or FIRST_GROUP) == title
            ]
            is_open = title == FIRST_GROUP or any(field.errors for field in fields)
            found.append(ParameterGroup(title, fields, is_open))
        return found

    def lists(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id and entries of each list in the page."""
        if any(spec.is_weights for spec in self._specs):
            yield WEIGHTS_HERE, models_on_offer(self._project)

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that have a value, as `trainer_of` takes them."""
        values = {spec.name: self.cleaned_data.get(f"param_{spec.name}") for spec in self._specs}
        return {name: value for name, value in values.items() if value not in (None, "")}

    def refuse(self, message: str) -> None:
        """Show an error beside the field or parameter that it names, else above the form."""
        if message.startswith("name: "):
            return self.add_error("name", capfirst(message.removeprefix("name: ")))
        for spec in self._specs:
            beginning = f"parameter {spec.name!r}: "
            if beginning in message:
                return self.add_error(f"param_{spec.name}", capfirst(message.partition(beginning)[2]))
        return self.add_error(None, message)
