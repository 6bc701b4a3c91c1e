"""The form of a new run: the evaluator's declared parameters, the summaries and the budget."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.declared.form_fields import setting_field
from annotation.declared.settings import Setting, SettingsRefused, settings_of
from annotation.models import Article, Project
from annotation.templatetags.texts import language_name
from scoring.contract.evaluator import Evaluator
from scoring.contract.params import read_params
from scoring.dimensions.project_dimensions import WORDS, KnownDimension, known_dimensions, with_words_of
from scoring.endpoints.offered_addresses import addresses_on_offer, models_known
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.inputs.items import Selection
from scoring.inputs.members import NAME_LENGTH
from scoring.inputs.offered_models import locate_for, models_on_offer, tables_on_offer
from scoring.models import Run, Setup
from scoring.runs.budget_form import BudgetField
from scoring.weights.model_files import MissingWeights


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


MOST_IN_SIGHT = 8  # parameters
OPEN_GROUPS = 2  # besides groups with errors
WEIGHTS_HERE, ENDPOINTS_KNOWN, MODELS_KNOWN = "weights-here", "endpoints-known", "models-known"
"""Ids of the page's lists that complete texts."""
_OFFERS = {"base_url": ENDPOINTS_KNOWN, "model": MODELS_KNOWN}
"""Parameter of an evaluator that asks a model -> its list."""
UNSERVED = ("structured", "mode")
"""Parameters that a model may not support; the error message names them."""


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters under one heading."""

    title: str
    fields: list[forms.BoundField]
    is_open: bool


class RunForm(forms.Form):
    """A new run. Parameters are fields named `param_<name>`; an empty one keeps its default."""

    languages = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None selected: all."
    )
    rated_only = forms.BooleanField(
        required=False,
        label="Only summaries that have a rating",
        help_text="The comparison uses only rated summaries.",
    )
    other_dimensions = forms.CharField(
        required=False,
        max_length=500,
        help_text="Separated by commas. Describe each below.",
    )
    budget = BudgetField(
        required=False,
        label="Budget, $",
        help_text="The run pauses before it can cost more. Empty: no limit.",
    )
    delivery = forms.ChoiceField(
        required=False,
        label="Delivery",
        choices=Run.Delivery.choices,
        initial=Run.Delivery.NOW,
        help_text="A batch is answered within 24 hours, often at half the price.",
    )

    def __init__(
        self, project: Project, evaluator: type[Evaluator], data: Any = None, **options: Any
    ) -> None:
        super().__init__(data, **options)
        self._project = project
        self._evaluator = evaluator
        self._specs = settings_of(evaluator.Params)
        for spec in self._specs:
            self.fields[f"param_{spec.name}"] = self._field(spec)
        if not self._takes_words:
            del self.fields["other_dimensions"]
        if not self._asks:
            del self.fields["budget"], self.fields["delivery"]
        codes = Article.objects.filter(project=project).order_by("language").distinct()
        languages = list(codes.values_list("language", flat=True))
        if len(languages) < 2:
            del self.fields["languages"]
        else:
            chooser = self.fields["languages"]
            assert isinstance(chooser, forms.MultipleChoiceField)
            chooser.choices = [(code, language_name(code)) for code in languages]

    @property
    def _asks(self) -> bool:
        return issubclass(self._evaluator, AskingEvaluator)

    @property
    def _takes_words(self) -> bool:
        return {spec.name for spec in self._specs} >= WORDS

    def _field(self, spec: Setting) -> forms.Field:
        if spec.is_setup:
            return member_field(self._project, spec)
        if spec.name == "dimensions" and self._takes_words:
            return dimensions_field(spec, known_dimensions(self._project))
        if spec.is_weights:
            return setting_field(spec, WEIGHTS_HERE)
        return setting_field(spec, _OFFERS.get(spec.name, "") if self._asks else "")

    def parameters(self) -> list[forms.BoundField]:
        return self._all_parameters()[:MOST_IN_SIGHT]

    def further_parameters(self) -> list[forms.BoundField]:
        """Return the parameters after the first MOST_IN_SIGHT, which the form hides until opened."""
        return self._all_parameters()[MOST_IN_SIGHT:]

    def further_are_wrong(self) -> bool:
        return any(field.errors for field in self.further_parameters())

    def groups(self) -> list[ParameterGroup]:
        """Return all parameters by heading, if the evaluator declares headings."""
        titles = dict.fromkeys(spec.group for spec in self._specs if spec.group)
        found: list[ParameterGroup] = []
        for title in titles:
            fields = [field for spec in self._specs if spec.group == title for field in self._fields_of(spec)]
            is_open = len(found) < OPEN_GROUPS or any(field.errors for field in fields)
            found.append(ParameterGroup(title, fields, is_open))
        return found

    def lists(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id and entries of each list in the page. Of weights, only usable ones are listed."""
        if any(spec.is_weights for spec in self._specs):
            yield WEIGHTS_HERE, [*models_on_offer(self._project), *tables_on_offer(self._project)]
        if self._asks:
            yield ENDPOINTS_KNOWN, addresses_on_offer(self._project.pk)
            yield MODELS_KNOWN, models_known(self._project.pk)

    def refuse(self, message: str) -> None:
        """Show an error beside the field or parameter that it names, else above the form."""
        for name in ("budget", "delivery"):
            if message.startswith(f"{name}: "):
                return self.add_error(name, capfirst(message.removeprefix(f"{name}: ")))
        for spec in self._specs:
            if f"parameter {spec.name!r}" in message:
                beginning = f"parameter {spec.name!r}: "
                return self.add_error(f"param_{spec.name}", capfirst(message.removeprefix(beginning)))
        for name in UNSERVED if self._asks else ():
            if f"param_{name}" in self.fields and name in message.split():
                return self.add_error(f"param_{name}", capfirst(message))
        return self.add_error(None, message)

    def _all_parameters(self) -> list[forms.BoundField]:
        return [field for spec in self._specs for field in self._fields_of(spec)]

    def _fields_of(self, spec: Setting) -> list[forms.BoundField]:
        own = self[f"param_{spec.name}"]
        return [own, self["other_dimensions"]] if spec.name == "dimensions" and self._takes_words else [own]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            self._look_for_weights()
        if not self.errors:
            try:
                read_params(self._evaluator, with_words_of(self._project, self._evaluator, self.given))
            except SettingsRefused as error:
                for name, reason in error.fields.items():
                    self.add_error(f"param_{name}", capfirst(reason))
            except ValueError as error:
                self.refuse(str(error))
        return cleaned

    def _look_for_weights(self) -> None:
        for spec in self._specs:
            named = self.given.get(spec.name, spec.default)
            if spec.is_weights and named:
                try:
                    locate_for(self._project, named)
                except MissingWeights as error:
                    self.add_error(f"param_{spec.name}", capfirst(str(error)))

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that have a value, as `read_params` takes them."""
        values = {spec.name: self.cleaned_data.get(f"param_{spec.name}") for spec in self._specs}
        if others := self.cleaned_data.get("other_dimensions"):
            values["dimensions"] = [*(values["dimensions"] or ()), *others.split(",")]
        return {name: value for name, value in values.items() if value not in (None, "")}

    @property
    def most_to_spend(self) -> Decimal | None:
        """The budget in US dollars; None for no limit."""
        return self.cleaned_data.get("budget")

    @property
    def chosen_delivery(self) -> str:
        """A Run.Delivery."""
        return self.cleaned_data.get("delivery") or Run.Delivery.NOW

    @property
    def selection(self) -> Selection:
        return Selection(tuple(self.cleaned_data.get("languages", ())), self.cleaned_data["rated_only"])
