"""The form of a recheck: its budget."""

from typing import Any

from django import forms

from scoring.runs.budget_form import BudgetField


class RecheckForm(forms.Form):
    """The budget of a recheck. `name` makes the ids of its fields unique on the page."""

    budget = BudgetField(required=False, label="Budget, $")

    def __init__(self, name: str, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", auto_id=f"{name}-%s", **options)

    @property
    def problem(self) -> str:
        """The error message; empty if the form is valid."""
        return f"budget: {' '.join(map(str, self.errors['budget']))}" if self.errors else ""
