"""The filters of the list of summaries."""

from collections.abc import Mapping

from django import forms

from annotation.models import Project
from annotation.summaries.find_summaries import LONGEST_SEARCH, Shown
from annotation.templatetags.texts import language_name
from annotation.web.form_choices import article_languages, offer


class SummaryFilterForm(forms.Form):
    shown = forms.ChoiceField(label="Show", required=False, choices=Shown.choices)
    language = forms.ChoiceField(required=False)
    system = forms.ChoiceField(required=False)
    text = forms.CharField(
        label="Text",
        required=False,
        max_length=LONGEST_SEARCH,
        widget=forms.TextInput(attrs={"type": "search"}),
        help_text="Searches summaries and titles.",
    )

    def __init__(self, project: Project, data: Mapping[str, str]) -> None:
        super().__init__(data, auto_id="filter_%s", label_suffix="")
        languages = ((code, f"{language_name(code)} ({code})") for code in article_languages(project))
        offer(self, "language", [("", "all"), *languages])
        systems = project.systems.values_list("name", flat=True)
        offer(self, "system", [("", "all"), *((name, name) for name in systems)])

    def filters(self) -> dict[str, str]:
        """Return the filters of `find_summaries`. A field with an invalid value admits all summaries."""
        self.is_valid()
        return self.cleaned_data
