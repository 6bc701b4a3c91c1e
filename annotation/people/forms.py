"""The forms of the People pages."""

from collections.abc import Mapping, Sequence

from django import forms

from annotation.audit.log import LONGEST_REASON
from annotation.models import Project, Role
from annotation.people.invitation_list import InvalidList, read_invitees
from annotation.people.invitations import Invitee
from annotation.templatetags.texts import language_name
from annotation.texts.language_codes import is_language_code
from annotation.web.form_choices import article_languages, offer


class LanguagesForm(forms.Form):
    """Languages to choose: those of the project's articles, and others by their codes."""

    languages = forms.MultipleChoiceField(
        label="Languages", required=False, widget=forms.CheckboxSelectMultiple
    )
    other_languages = forms.CharField(
        label="Other languages",
        required=False,
        help_text="Codes separated by commas, such as de, pt-BR.",
    )

    def __init__(
        self,
        project: Project,
        data: Mapping[str, str] | None = None,
        chosen: Sequence[str] = (),
    ) -> None:
        offered = article_languages(project)
        initial = {"languages": chosen, "other_languages": ", ".join(sorted({*chosen} - {*offered}))}
        super().__init__(data, label_suffix="", initial=initial)
        offer(self, "languages", [(code, language_name(code)) for code in offered])

    def clean_other_languages(self) -> list[str]:
        codes = [code.strip() for code in self.cleaned_data["other_languages"].split(",") if code.strip()]
        wrong = [code for code in codes if not is_language_code(code)]
        if wrong:
            raise forms.ValidationError(
                f"Found {', '.join(wrong)}; expected language codes such as de or pt-BR."
            )
        return codes

    @property
    def chosen_languages(self) -> list[str]:
        """The languages of a valid form."""
        return sorted({*self.cleaned_data["languages"], *self.cleaned_data["other_languages"]})


class RaterLanguagesForm(LanguagesForm):
    def clean(self) -> dict[str, object]:
        super().clean()
        if not self.errors and not self.chosen_languages:
            self.add_error("other_languages", "Choose at least one language, or suspend the rater.")
        return self.cleaned_data


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter the reason. The audit log keeps it."},
        help_text="Kept in the audit log. Only managers see it.",
    )

    def __init__(self, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")


class InvitationForm(LanguagesForm):
    role = forms.ChoiceField(
        choices=[
            (Role.ANNOTATOR, "Annotator: rates summaries"),
            (Role.RESEARCHER, "Researcher: reads ratings and runs evaluators, sees no names"),
            (Role.MANAGER, "Manager: imports, invites and sees names"),
        ],
        widget=forms.RadioSelect,
        initial=Role.ANNOTATOR,
    )
    field_order = ("role", "languages", "other_languages", "people", "note")
    people = forms.CharField(
        label="E-mail addresses",
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One on each line, or CSV: address, role, languages. Leave empty for one link.",
    )
    note = forms.CharField(
        required=False, max_length=120, help_text="Recipient of the invitation. Only managers see this."
    )

    def __init__(self, project: Project, data: Mapping[str, str] | None = None) -> None:
        super().__init__(project, data)
        self.project = project

    def clean(self) -> dict[str, object]:
        super().clean()
        if self.errors:
            return self.cleaned_data
        told = Invitee(self.cleaned_data["role"], self.chosen_languages, note=self.cleaned_data["note"])
        if self.cleaned_data["people"]:
            try:
                self.cleaned_data["invitees"] = read_invitees(self.project, self.cleaned_data["people"], told)
            except InvalidList as invalid:
                self.add_error("people", invalid.problems)
        elif told.role == Role.ANNOTATOR and not told.languages:
            self.add_error("languages", "Choose at least one language for the annotator.")
        else:
            self.cleaned_data["invitees"] = [told]
        return self.cleaned_data
