"""Forms of the manager's guidelines: a new draft, its text, the default language."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.guidelines.starting_points import starting_points
from annotation.guidelines.versions import LONGEST_CHANGES, LONGEST_TEXT, offered_languages
from annotation.models import GuidelinesVersion, Project
from annotation.templatetags.texts import language_name
from annotation.web.form_choices import offer

Data = Mapping[str, Any] | None


def _language_choices(project: Project) -> list[tuple[str, str]]:
    return [(code, language_name(code)) for code in offered_languages(project)]


class StartDraftForm(forms.Form):
    language = forms.ChoiceField()
    start = forms.ChoiceField(label="Start from")

    def __init__(self, project: Project, data: Data = None) -> None:
        super().__init__(data, initial={"language": project.default_language}, label_suffix="")
        with_draft = set(project.guidelines.drafts().values_list("language", flat=True))
        self.languages = [(code, name) for code, name in _language_choices(project) if code not in with_draft]
        offer(self, "language", self.languages)
        offer(self, "start", starting_points(project))


class DefaultLanguageForm(forms.Form):
    default_language = forms.ChoiceField(
        label="Default language",
        help_text="Language of the guidelines for raters who have none in their own.",
    )

    def __init__(self, project: Project, data: Data = None) -> None:
        super().__init__(data, initial={"default_language": project.default_language}, label_suffix="")
        offer(self, "default_language", _language_choices(project))


class DraftForm(forms.Form):
    """The draft. `saves` says which state of it was opened."""

    text = forms.CharField(
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 28, "spellcheck": "true"}),
    )
    changes = forms.CharField(
        label="What changed",
        required=False,
        max_length=LONGEST_CHANGES,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Raters who confirmed an earlier version read this first.",
    )
    saves = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, draft: GuidelinesVersion, data: Data = None) -> None:
        initial = {"text": draft.text, "changes": draft.changes, "saves": draft.saves}
        super().__init__(data, initial=initial, label_suffix="")
        self.fields["text"].label = f"Text in {language_name(draft.language)}"

    def clean_text(self) -> str:
        """Return the text with the line ends of Markdown files; browsers send others."""
        return self.cleaned_data["text"].replace("\r\n", "\n")


class DraftStateForm(forms.Form):
    """The state of the draft that a confirmation is about."""

    saves = forms.IntegerField()
