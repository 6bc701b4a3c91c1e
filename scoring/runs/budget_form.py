"""The form that resumes a paused run."""

from typing import Any

from django import forms
from django.utils.text import capfirst

from scoring.replies.budgets import LARGEST_BUDGET, SMALLEST_BUDGET


class BudgetField(forms.DecimalField):
    """US dollars that a run may cost in total."""

    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "class": "amount"})

    def __init__(self, **options: Any) -> None:
        places = -int(SMALLEST_BUDGET.as_tuple().exponent)
        super().__init__(
            min_value=SMALLEST_BUDGET, max_value=LARGEST_BUDGET, decimal_places=places, **options
        )


class BudgetForm(forms.Form):
    budget = BudgetField(
        label="New budget, $", help_text="Budget of the whole run, including money already spent."
    )

    def refuse(self, message: str) -> None:
        self.add_error("budget", capfirst(message.removeprefix("budget: ")))
