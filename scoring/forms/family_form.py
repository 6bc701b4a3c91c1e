"""The forms of run families: one that starts runs, one that puts together what is there already."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.models import Project
from scoring.contract import Evaluator
from scoring.families.starting import FamilyWanted
from scoring.families.values import KINDS, MOST, kind_of, read_values, usual_values
from scoring.forms.budget_form import BudgetField
from scoring.forms.run_form import RunForm
from scoring.models import EvaluatorSetup, FamilyMember, RunFamily

LONGEST_VALUES = 4000  # characters


class FamilyForm(RunForm):
    """The form of a run, with a name, the parameter that varies and its values.

    The field of the parameter that varies is passed over.
    """

    use_required_attribute = False  # a parameter that a run needs may be the one that varies

    name = forms.CharField(
        max_length=RunFamily._meta.get_field("name").max_length, help_text="What its page is called."
    )
    varies = forms.ChoiceField(label="What varies")
    values = forms.CharField(
        max_length=LONGEST_VALUES,
        required=False,
        help_text=f"Separated by commas, {MOST} at most; 1..4 stands for 1, 2, 3, 4. "
        "Empty: every choice that the parameter has, seeds 0, 1, 2, or 1 to 4 examples.",
    )
    budget = BudgetField(
        required=False,
        label="Budget of all runs together, $",
        help_text="Shared equally by the runs; one that has spent its share pauses. Empty: no limit.",
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
        varies.choices = [(name, _in_words(name)) for name in (*preset, *others)]
        chosen = self.data.get("varies")
        if chosen in self._by_name:
            self.fields[f"param_{chosen}"].required = False

    def refuse(self, message: str) -> None:
        """What is said of the name, or of the parameter that varies, stands beside it."""
        if message.startswith("name: "):
            return self.add_error("name", capfirst(message.removeprefix("name: ")))
        if f"parameter {self.cleaned_data.get('varies')!r}" in message:
            return self.add_error("values", message)
        return super().refuse(message)

    def refuse_member(self, value: str, why: str) -> None:
        """What is said of one of the values; of its share of the budget beside that."""
        field = "budget" if why.startswith("budget: ") else "values"
        self.add_error(field, f"{value}: {why.removeprefix('budget: ')}")

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
        """The parameters that are the same for all members."""
        varies = self.cleaned_data.get("varies")
        return {name: value for name, value in super().given.items() if name != varies}

    @property
    def wanted(self) -> FamilyWanted:
        return FamilyWanted(
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
    """Setups that are there already: which of them, and what each is called in the family."""

    name = forms.CharField(
        max_length=RunFamily._meta.get_field("name").max_length, help_text="What its page is called."
    )
    kind = forms.ChoiceField(
        label="What varies",
        choices=RunFamily.Kind.choices,
        initial=RunFamily.Kind.MODELS,
        help_text="Seeds are shown with their spread, numbers of examples as a line.",
    )

    def __init__(
        self, setups: Sequence[EvaluatorSetup], data: Any = None, *, picked: Sequence[str] = ()
    ) -> None:
        super().__init__(data, label_suffix="")
        self._setups = setups
        longest = FamilyMember._meta.get_field("label").max_length
        for setup in setups:
            self.fields[f"setup_{setup.pk}"] = forms.BooleanField(
                required=False, label=setup.label, initial=str(setup.pk) in picked
            )
            self.fields[f"label_{setup.pk}"] = forms.CharField(
                required=False, max_length=longest, label=f"Name of {setup.label}", initial=setup.label
            )

    def rows(self) -> Iterator[tuple[EvaluatorSetup, forms.BoundField, forms.BoundField]]:
        """Each setup with the field that picks it and that of its name."""
        for setup in self._setups:
            yield setup, self[f"setup_{setup.pk}"], self[f"label_{setup.pk}"]

    def refuse(self, message: str) -> None:
        """What is said of the name stands beside it."""
        field = "name" if message.startswith("name: ") else None
        self.add_error(field, capfirst(message.removeprefix("name: ")))

    @property
    def labelled(self) -> list[tuple[int, str]]:
        """Of those picked: primary key, and name in the family."""
        return [
            (setup.pk, self.cleaned_data[f"label_{setup.pk}"])
            for setup in self._setups
            if self.cleaned_data[f"setup_{setup.pk}"]
        ]


def _in_words(parameter: str) -> str:
    kind = kind_of(parameter)
    shown = parameter.replace("_", " ")
    return shown if kind in ("parameter", parameter) else f"{shown} ({RunFamily.Kind(kind).label})"
