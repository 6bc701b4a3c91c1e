"""The form that invites people."""

from collections.abc import Mapping

from django import forms

from annotation.models import Project, Role
from annotation.people.invitation_list import InvalidList, is_language_code, read_invitees
from annotation.people.invitations import Invitee
from annotation.templatetags.texts import language_name
from annotation.web.form_choices import article_languages, offer


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        choices=[
            (Role.ANNOTATOR, "Annotator: rates summaries"),
            (Role.RESEARCHER, "Researcher: reads ratings and runs evaluators, sees no names"),
            (Role.MANAGER, "Manager: imports, invites and sees names"),
        ],
        widget=forms.RadioSelect,
        initial=Role.ANNOTATOR,
    )
    languages = forms.MultipleChoiceField(
        label="Languages", required=False, widget=forms.CheckboxSelectMultiple
    )
    other_languages = forms.CharField(
        label="Other languages",
        required=False,
        help_text="Codes separated by commas, such as de, pt-BR.",
    )
    people = forms.CharField(
        label="E-mail addresses",
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One on each line, or CSV: address, role, languages. Leave empty for one link.",
    )
    note = forms.CharField(
        required=False, max_length=120, help_text="Who the invitation is for. Only managers see this."
    )

    def __init__(self, project: Project, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")
        self.project = project
        offer(self, "languages", [(code, language_name(code)) for code in article_languages(project)])

    def clean_other_languages(self) -> list[str]:
        codes = [code.strip() for code in self.cleaned_data["other_languages"].split(",") if code.strip()]
        wrong = [code for code in codes if not is_language_code(code)]
        if wrong:
            raise forms.ValidationError(
                f"Found {', '.join(wrong)}; expected language codes such as de or pt-BR."
            )
        return codes

    def clean(self) -> dict[str, object]:
        super().clean()
        chosen = self.cleaned_data.get("languages", []) + self.cleaned_data.get("other_languages", [])
        if self.errors:
            return self.cleaned_data
        told = Invitee(self.cleaned_data["role"], sorted(set(chosen)), note=self.cleaned_data["note"])
        if self.cleaned_data["people"]:
            try:
                self.cleaned_data["invitees"] = read_invitees(self.project, self.cleaned_data["people"], told)
            except InvalidList as invalid:
                self.add_error("people", invalid.problems)
        elif told.role == Role.ANNOTATOR and not chosen:
            self.add_error("languages", "Choose at least one language for the annotator.")
        else:
            self.cleaned_data["invitees"] = [told]
        return self.cleaned_data
