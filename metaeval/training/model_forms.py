"""The form that registers a model which was trained elsewhere."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.models import Project
from scoring.errors import InvalidTraining
from scoring.inputs.offered_models import models_on_offer
from scoring.inputs.seen_file import read_seen
from scoring.runs.forms import WEIGHTS_HERE
from scoring.training.registering import Registration, registrable

FROM_CARD = "As the model's card says"
DIMENSIONS = "dimensions-asked"
"""Id of the page's list of the project's dimensions."""


class RegistrationForm(forms.Form):
    """A model in a folder or with a hub id, the evaluator that reads it, and what it has seen."""

    source = forms.CharField(
        label="Model",
        max_length=500,
        widget=forms.TextInput(attrs={"list": WEIGHTS_HERE, "spellcheck": "false"}),
        help_text="A folder of the server's WEIGHTS_DIR, or the id of a downloaded model.",
    )
    name = forms.CharField(max_length=60, help_text="Lower-case letters, digits, dots and hyphens.")
    evaluator = forms.ChoiceField(required=False, help_text="The method that reads the model.")
    dimension = forms.CharField(
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"list": DIMENSIONS}),
        help_text="SEAHORSE only: the dimension that the model scores. Empty: found by the id.",
    )
    params = forms.CharField(
        required=False,
        label="Parameters",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "placeholder": "max_length=512"}),
        help_text="Parameters of the evaluator that suit the model. NAME=VALUE, one per line.",
    )
    seen = forms.FileField(
        required=False,
        label="Articles seen",
        help_text="A line for each article: an id, a text digest, or a row of an examples file.",
    )
    note = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Further facts about its training data.",
    )

    def __init__(self, project: Project, data: Any = None, files: Any = None, **options: Any) -> None:
        super().__init__(data, files, **options)
        self._project = project
        chooser = self.fields["evaluator"]
        assert isinstance(chooser, forms.ChoiceField)
        chooser.choices = [("", FROM_CARD), *((each.name, each.title) for each in registrable())]

    def lists(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id and entries of each list in the page."""
        yield WEIGHTS_HERE, models_on_offer(self._project)
        yield DIMENSIONS, list(self._project.questionnaire.questions.values_list("dimension", flat=True))

    def clean_params(self) -> dict[str, str]:
        pairs = [line.partition("=") for line in self.cleaned_data["params"].splitlines() if line.strip()]
        if wrong := [name for name, equals, _ in pairs if not equals]:
            raise forms.ValidationError(f"Found {wrong[0]!r}, expected NAME=VALUE.")
        return {name.strip(): value.strip() for name, _, value in pairs}

    def registration(self) -> Registration:
        """Return what the valid form says. Raises InvalidTraining as `read_seen`."""
        given = self.cleaned_data
        seen = {}
        if file := given.pop("seen"):
            try:
                lines = file.read().decode("utf-8-sig").split("\n")
            except UnicodeDecodeError as error:
                raise InvalidTraining("seen: the file is not text in UTF-8") from error
            seen = read_seen(lines, self._project)
        return Registration(**given, seen=seen)

    def refuse(self, message: str) -> None:
        """Show an error beside the field that it names, else above the form."""
        name, colon, said = message.partition(": ")
        if name.startswith("parameter "):
            return self.add_error("params", capfirst(message))
        if colon and name in self.fields:
            return self.add_error(name, capfirst(said))
        return self.add_error(None, capfirst(message))
