"""The forms of experiments: one starts runs, the other compares existing setups."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.declared.settings import Setting
from annotation.models import Project
from metaeval.experiments.starting import ExperimentRequest
from metaeval.experiments.values import KINDS, MOST, kind_of, read_values, usual_values
from scoring.contract.evaluator import Evaluator
from scoring.models import Experiment, ExperimentMember, Setup
from scoring.runs.budget_form import BudgetField
from scoring.runs.forms import RunForm

LONGEST_VALUES = 4000  # characters


class ExperimentForm(RunForm):
    """The form of a run plus a name, the parameter that varies and its values.

    The field of the parameter that varies is ignored.
    """

    use_required_attribute = False  # a required parameter may be the one that varies

    name = forms.CharField(max_length=Experiment._meta.get_field("name").max_length)
    varies = forms.ChoiceField(label="What varies")
    values = forms.CharField(
        max_length=LONGEST_VALUES,
        required=False,
        help_text=f"At most {MOST}, separated by commas; 1..4 means 1, 2, 3, 4. Empty: the usual values.",
    )
    budget = BudgetField(
        required=False,
        label="Total budget, $",
        help_text="Shared equally by the runs. Each pauses when its share is spent.",
    )
    field_order = ("name", "varies", "values", "budget")

    def __init__(
        self, project: Project, evaluator: type[Evaluator], data: Any = None, **options: Any
    ) -> None:
        super().__init__(project, evaluator, data, **options)
        self._by_name = {spec.name: spec for spec in self._specs}
        self._values: tuple[str, ...] = ()
        varies = self.fields["varies"]
        assert isinstance(varies, forms.ChoiceField)
        preset = [name for name in KINDS if name in self._by_name]
        others = [name for name in self._by_name if name not in preset]
        varies.choices = [(name, _in_words(self._by_name[name])) for name in (*preset, *others)]
        chosen = self.data.get("varies")
        if chosen in self._by_name:
            self.fields[f"param_{chosen}"].required = False

    def refuse(self, message: str) -> None:
        """Show errors of the name and of the parameter that varies beside their fields."""
        if message.startswith("name: "):
            return self.add_error("name", capfirst(message.removeprefix("name: ")))
        if f"parameter {self.cleaned_data.get('varies')!r}" in message:
            return self.add_error("values", message)
        return super().refuse(message)

    def refuse_member(self, value: str, why: str) -> None:
        """Show the error of one value beside the values, or beside the budget."""
        field = "budget" if why.startswith("budget: ") else "values"
        told = why.removeprefix("budget: ").removeprefix(f"parameter {self.cleaned_data.get('varies')!r}: ")
        self.add_error(field, f"{value}: {told}")

    def clean(self) -> dict[str, Any]:
        spec = self._by_name.get(self.cleaned_data.get("varies", ""))
        if spec and "values" in self.cleaned_data:
            try:
                self._values = read_values(spec.type, self.cleaned_data["values"] or usual_values(spec))
            except ValueError as error:
                self.add_error("values", str(error))
        return super().clean()

    @property
    def given(self) -> dict[str, Any]:
        """The parameters of the first member."""
        first = {self.cleaned_data["varies"]: self._values[0]} if self._values else {}
        return {**self.others, **first}

    @property
    def others(self) -> dict[str, Any]:
        """The parameters that all members share."""
        varies = self.cleaned_data.get("varies")
        return {name: value for name, value in super().given.items() if name != varies}

    @property
    def wanted(self) -> ExperimentRequest:
        return ExperimentRequest(
            name=self.cleaned_data["name"],
            evaluator=self._evaluator.name,
            parameter=self.cleaned_data["varies"],
            values=self._values,
            params=self.others,
            selection=self.selection,
            budget=self.most_to_spend,
            delivery=self.chosen_delivery,
        )


class CompareForm(forms.Form):
    """A selection of existing setups, each with its label in the experiment."""

    name = forms.CharField(max_length=Experiment._meta.get_field("name").max_length)
    kind = forms.ChoiceField(
        label="What varies",
        choices=Experiment.Kind.choices,
        initial=Experiment.Kind.MODELS,
        help_text="Seeds are shown with their spread, numbers of examples as a line.",
    )

    def __init__(self, setups: Sequence[Setup], data: Any = None, *, picked: Sequence[str] = ()) -> None:
        super().__init__(data)
        self._setups = setups
        longest = ExperimentMember._meta.get_field("label").max_length
        for setup in setups:
            self.fields[f"setup_{setup.pk}"] = forms.BooleanField(
                required=False, label=setup.label, initial=str(setup.pk) in picked
            )
            self.fields[f"label_{setup.pk}"] = forms.CharField(
                required=False, max_length=longest, label=f"Name of {setup.label}", initial=setup.label
            )

    def rows(self) -> Iterator[tuple[Setup, forms.BoundField, forms.BoundField]]:
        """Yield each setup with its checkbox and the field of its label."""
        for setup in self._setups:
            yield setup, self[f"setup_{setup.pk}"], self[f"label_{setup.pk}"]

    def refuse(self, message: str) -> None:
        """Show errors of the name beside it."""
        field = "name" if message.startswith("name: ") else None
        self.add_error(field, capfirst(message.removeprefix("name: ")))

    @property
    def labelled(self) -> list[tuple[int, str]]:
        """Primary keys and labels of the selected setups."""
        return [
            (setup.pk, self.cleaned_data[f"label_{setup.pk}"])
            for setup in self._setups
            if self.cleaned_data[f"setup_{setup.pk}"]
        ]


def _in_words(spec: Setting) -> str:
    kind = kind_of(spec.name)
    if kind in ("parameter", spec.name):
        return spec.label
    return f"{spec.label} ({Experiment.Kind(kind).label})"
