"""The form that invites people."""

import re
from collections.abc import Mapping

from django import forms

from annotation.models import Project, Role
from annotation.templatetags.texts import language_name
from annotation.web.form_choices import article_languages, offer

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*")


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
    note = forms.CharField(
        required=False, max_length=120, help_text="Who the invitation is for. Only managers see this."
    )

    def __init__(self, project: Project, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")
        offer(self, "languages", [(code, language_name(code)) for code in article_languages(project)])

    def clean_other_languages(self) -> list[str]:
        codes = [code.strip() for code in self.cleaned_data["other_languages"].split(",") if code.strip()]
        wrong = [code for code in codes if not LANGUAGE_CODE.fullmatch(code)]
        if wrong:
            raise forms.ValidationError(
                f"Found {', '.join(wrong)}; expected language codes such as de or pt-BR."
            )
        return codes

    def clean(self) -> dict[str, object]:
        super().clean()
        chosen = self.cleaned_data.get("languages", []) + self.cleaned_data.get("other_languages", [])
        self.cleaned_data["all_languages"] = sorted(set(chosen))
        if self.cleaned_data.get("role") == Role.ANNOTATOR and not chosen and not self.errors:
            self.add_error("languages", "Choose at least one language for the annotator.")
        return self.cleaned_data
