"""Forms of judges: the split of labels, versions and trials."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.declared.settings import settings_of, value_as_text
from annotation.models import Project
from metaeval.judges.versions import LONGEST_NAME, LONGEST_NOTE
from scoring.contract.evaluator import Evaluator
from scoring.runs.budget_form import BudgetField
from scoring.runs.forms import RunForm
from scoring.sealed_labels.label_parts import Shares

OF_RUNS = ("languages", "rated_only", "budget", "delivery")
"""Fields of a run's form that a version does not have."""


class SplitForm(forms.Form):
    pool = forms.IntegerField(min_value=1, max_value=98, label="Pool (% of articles)")
    tuning = forms.IntegerField(min_value=1, max_value=98, label="Tuning (% of articles)")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, label="Seed")

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.shares  # noqa: B018 - raises ValueError for invalid shares
            except ValueError as error:
                self.add_error(None, str(error))
        return cleaned

    @property
    def shares(self) -> Shares:
        cleaned = self.cleaned_data
        return Shares(cleaned["seed"], cleaned["pool"] / 100, cleaned["tuning"] / 100)


class TrialForm(forms.Form):
    budget = BudgetField(
        required=False,
        label="Budget, $",
        help_text="The run pauses before it could cost more. Empty: no limit.",
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, label_suffix="")


class VersionForm(RunForm):
    """The parameters of a version, with those of its parent as initial values."""

    note = forms.CharField(
        max_length=LONGEST_NOTE,
        required=False,
        label="Note",
        help_text="Your changes and the reason for them.",
    )

    def __init__(
        self,
        project: Project,
        evaluator: type[Evaluator],
        data: Any = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(project, evaluator, data)
        for name in OF_RUNS:
            self.fields.pop(name, None)
        self.initial = {**self.initial, **self._filled_in(params or {})}

    def _filled_in(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for spec in settings_of(self._evaluator.Params):
            if spec.name not in params:
                continue
            field, value = self.fields[f"param_{spec.name}"], params[spec.name]
            if isinstance(field, forms.MultipleChoiceField):
                offered = [name for name in value if field.valid_value(name)]
                found["other_dimensions"] = ",".join(each for each in value if each not in offered)
                value = offered
            elif spec.type in ("list", "text") or spec.choices:
                value = value_as_text(value)
            found[f"param_{spec.name}"] = value
        return found


class JudgeForm(VersionForm):
    """A judge's name and its first version."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name", help_text="For example “factuality judge”.")
