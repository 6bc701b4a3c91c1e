"""The form of a new run: an evaluator's parameters, made from its declaration, and the summaries."""

from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.models import Article, Project
from annotation.templatetags.texts import language_name
from scoring.contract import Evaluator
from scoring.items import Selection
from scoring.judged_dimensions import with_words_of
from scoring.local_models import installed, tables
from scoring.members import NAME_LENGTH
from scoring.models import EvaluatorSetup
from scoring.params import ParamSpec, declared_params, read_params, value_as_text
from scoring.weights import MissingWeights, locate_offered

LONGEST_TEXT = 500  # characters of a parameter
MOST_IN_SIGHT = 8  # parameters
WEIGHTS_HERE = "weights-here"
"""Id of the list in the page that fields for models and their tables offer."""


class RunForm(forms.Form):
    """Parameters are fields named `param_<name>`; one left empty keeps its default."""

    languages = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all."
    )
    rated_only = forms.BooleanField(
        required=False,
        label="Only summaries that have a rating",
        help_text="Spares requests: others play no part in the meta-evaluation until they are rated.",
    )

    def __init__(
        self, project: Project, evaluator: type[Evaluator], data: Any = None, **options: Any
    ) -> None:
        super().__init__(data, label_suffix="", **options)
        self._project = project
        self._evaluator = evaluator
        self._specs = declared_params(evaluator.Params)
        for spec in self._specs:
            self.fields[f"param_{spec.name}"] = (
                _member_field(project, spec) if spec.is_setup else _field(spec)
            )
        codes = Article.objects.filter(project=project).order_by("language").distinct()
        languages = list(codes.values_list("language", flat=True))
        if len(languages) < 2:
            del self.fields["languages"]
        else:
            chooser = self.fields["languages"]
            assert isinstance(chooser, forms.MultipleChoiceField)
            chooser.choices = [(code, language_name(code)) for code in languages]

    def parameters(self) -> list[forms.BoundField]:
        return self._all_parameters()[:MOST_IN_SIGHT]

    def further_parameters(self) -> list[forms.BoundField]:
        """Those that a form opens on demand; an evaluator declares first what people change most."""
        return self._all_parameters()[MOST_IN_SIGHT:]

    def further_are_wrong(self) -> bool:
        return any(field.errors for field in self.further_parameters())

    def weights_here(self) -> list[str]:
        """Names of models that can be used as they are, then of tables; none if no parameter asks for any."""
        if not any(spec.is_weights for spec in self._specs):
            return []
        return [*(each.model for each in installed() if each.is_usable), *tables()]

    def refuse(self, message: str) -> None:
        """Put what is wrong beside the parameter that the message names, else above the form."""
        for spec in self._specs:
            if f"parameter {spec.name!r}" in message:
                beginning = f"parameter {spec.name!r}: "
                return self.add_error(f"param_{spec.name}", capfirst(message.removeprefix(beginning)))
        return self.add_error(None, message)

    def _all_parameters(self) -> list[forms.BoundField]:
        return [self[f"param_{spec.name}"] for spec in self._specs]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            self._look_for_weights()
        if not self.errors:
            try:
                read_params(self._evaluator, with_words_of(self._project, self._evaluator, self.given))
            except ValueError as error:
                self.refuse(str(error))
        return cleaned

    def _look_for_weights(self) -> None:
        for spec in self._specs:
            named = self.given.get(spec.name, spec.default)
            if spec.is_weights and named:
                try:
                    locate_offered(named)
                except MissingWeights as error:
                    self.add_error(f"param_{spec.name}", capfirst(str(error)))

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that were filled in, as `read_params` takes them."""
        values = {spec.name: self.cleaned_data.get(f"param_{spec.name}") for spec in self._specs}
        return {name: value for name, value in values.items() if value not in (None, "")}

    @property
    def selection(self) -> Selection:
        return Selection(tuple(self.cleaned_data.get("languages", ())), self.cleaned_data["rated_only"])


def _member_field(project: Project, spec: ParamSpec) -> forms.ChoiceField:
    """A choice among the evaluators that have scored the project, or of several of them."""
    setups = EvaluatorSetup.objects.filter(project=project).values_list("fingerprint", "label")
    choices = [(fingerprint[:NAME_LENGTH], label) for fingerprint, label in setups]
    help_text = spec.doc if choices else f"{spec.doc} There are none yet: start a run of one first."
    common: dict[str, Any] = {"label": spec.name.replace("_", " "), "help_text": help_text}
    if spec.type == "list":
        return forms.MultipleChoiceField(
            choices=choices, widget=forms.CheckboxSelectMultiple, required=spec.required, **common
        )
    return forms.ChoiceField(choices=choices, required=spec.required, **common)


def _field(spec: ParamSpec) -> forms.Field:
    common: dict[str, Any] = {
        "label": spec.name.replace("_", " "),
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
    if spec.is_weights:
        # The default is not filled in, since a browser offers of a list only what begins as the field does.
        default = common.pop("initial")
        shown = {"list": WEIGHTS_HERE, "placeholder": default or "", "spellcheck": "false"}
        common["widget"] = forms.TextInput(attrs=shown)
        if default:
            common["help_text"] = f"{spec.doc} Empty: {default}."
    return forms.CharField(max_length=LONGEST_TEXT, **common)
