"""The form of a custom dimension."""

from collections.abc import Mapping
from dataclasses import asdict

from django import forms

from scoring.judge.dimensions import Dimension
from scoring.models import JudgedDimension


class DimensionForm(forms.Form):
    """A custom dimension. The action validates it."""

    name = forms.CharField(
        required=False,
        help_text="A name such as focus. A question on it provides labels for examples.",
    )
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="A question that a good summary answers with yes. Judges read it verbatim.",
    )
    sees = forms.ChoiceField(
        required=False,
        label="Judge sees",
        choices=JudgedDimension.Sees.choices,
        widget=forms.RadioSelect,
        initial=JudgedDimension.Sees.ARTICLE,
    )

    def __init__(self, data: Mapping[str, str] | None = None, shown: Dimension | None = None) -> None:
        super().__init__(data, initial=asdict(shown) if shown else None)
