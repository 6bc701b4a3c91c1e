"""Forms of asking a model again: what that may cost."""

from typing import Any

from django import forms

from scoring.forms.budget_form import BudgetField


class SpendingForm(forms.Form):
    """`name` sets the ids of its field apart from those of others on the page."""

    budget = BudgetField(required=False, label="Most to spend, $")

    def __init__(self, name: str, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", auto_id=f"{name}-%s", **options)

    @property
    def problem(self) -> str:
        """What is wrong with what was sent; empty where nothing is."""
        return f"budget: {' '.join(map(str, self.errors['budget']))}" if self.errors else ""
