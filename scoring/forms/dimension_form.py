"""The form of a dimension of the project's own."""

from collections.abc import Mapping

from django import forms

from scoring.errors import InvalidDimension
from scoring.judge.dimensions import Dimension
from scoring.models import JudgedDimension


class DimensionForm(forms.Form):
    """What is wrong is for the action to say, which `refuse` puts beside the fields."""

    name = forms.CharField(
        required=False,
        help_text="As runs are to name it, such as focus or main_ideas. Labels of a question on a dimension "
        "of that name serve as examples.",
    )
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="A question that a good summary answers with yes. Judges read it as it stands.",
    )
    sees = forms.ChoiceField(
        required=False,
        label="What the judge sees",
        choices=JudgedDimension.Sees.choices,
        widget=forms.RadioSelect,
        initial=JudgedDimension.Sees.ARTICLE,
    )

    def __init__(self, data: Mapping[str, str] | None = None, shown: Dimension | None = None) -> None:
        initial = (
            {"name": shown.name, "description": shown.description, "sees": shown.sees} if shown else None
        )
        super().__init__(data, initial=initial, label_suffix="")

    def refuse(self, refused: InvalidDimension) -> None:
        for field, message in refused.fields.items():
            self.add_error(field, message)
