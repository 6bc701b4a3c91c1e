"""Forms of a new project and of a project's settings."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation import protocol
from annotation.contradictions.rules import rules_of
from annotation.models import Project
from annotation.projects.settings import SETTINGS, known_questionnaires
from annotation.web.form_choices import offer

COMMON_LICENCES = (
    *("cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc0-1.0", "odc-by", "odbl"),
    *("apache-2.0", "mit", "other"),
)
"""Suggestions. Hugging Face knows more."""


class ProjectForm(forms.Form):
    name = forms.CharField(
        max_length=120, help_text="For example “News in six languages”. You can change it later."
    )
    slug = forms.SlugField(
        label="Address",
        required=False,
        max_length=60,
        help_text="Letters a-z, digits and hyphens. Empty: made from the name.",
    )
    questionnaire = forms.ChoiceField(widget=forms.RadioSelect, help_text="The questions that raters answer.")
    redundancy = forms.IntegerField(
        label="Ratings per summary",
        min_value=1,
        max_value=100,
        initial=1,
        help_text="People who rate each summary. You can change this later.",
    )

    def __init__(self, data: Mapping[str, str] | None = None, questionnaire: str = "") -> None:
        super().__init__(
            data, initial={"questionnaire": questionnaire or protocol.SEAHORSE.key}, label_suffix=""
        )
        self._known = known_questionnaires()
        offer(self, "questionnaire", [(key, known.title) for key, known in self._known.items()])

    def chosen_questionnaire(self) -> protocol.Questionnaire:
        return self._known[self.cleaned_data["questionnaire"]]


class PercentField(forms.FloatField):
    """A share from 0 to 1, entered and shown as a percentage."""

    def __init__(self, **options: Any) -> None:
        widget = forms.NumberInput(attrs={"step": "any"})
        super().__init__(**{"min_value": 0, "max_value": 100, "widget": widget, **options})

    def prepare_value(self, value: Any) -> Any:
        """Return a share as a percentage; what somebody typed stays as it is."""
        return f"{100 * value:.10g}" if isinstance(value, int | float) else value

    def clean(self, value: Any) -> float | None:
        percent = super().clean(value)
        return None if percent is None else float(f"{percent / 100:.12g}")


class SettingsForm(forms.ModelForm):
    """A project's settings. `threshold:<key>` fields hold thresholds of single questions."""

    common_licences = COMMON_LICENCES

    class Meta:
        model = Project
        fields = [name for name in SETTINGS if name != "gold_thresholds"]
        widgets = {
            "description": forms.Textarea(attrs={"rows": 2}),
            "licence": forms.TextInput(attrs={"list": "licences", "spellcheck": "false"}),
        }
        field_classes = {
            "extra_share": PercentField,
            "gold_threshold": PercentField,
            "check_rate": PercentField,
            "check_threshold": PercentField,
        }
        labels = {
            "redundancy": "Ratings per summary",
            "extra_share": "Rated by several (%)",
            "extra_redundancy": "Ratings of these",
            "lease_minutes": "Minutes per summary",
            "articles_once": "Each article once",
            "pair_evenly": "Pair raters evenly",
            "contradiction_notice": "Notice of contradictions",
            "gold_round_size": "First round",
            "gold_retry_size": "Later rounds",
            "gold_rounds": "Rounds allowed",
            "gold_threshold": "Required agreement (%)",
            "check_rate": "Hidden checks (%)",
            "check_feedback": "Feedback",
            "check_threshold": "Suspend below (%)",
            "check_window": "Last hidden checks",
            "check_minimum": "Fewest hidden checks",
        }
        help_texts = {
            "redundancy": "Number of people who rate each summary.",
            "extra_share": "Percentage of summaries, chosen at random.",
            "extra_redundancy": "Use three or more to measure agreement.",
            "lease_minutes": "Time before an unfinished summary goes to another rater.",
            "daily_goal": "Summaries per rater. Raters can continue after reaching it.",
            "allow_corrections": "Raters may correct finished ratings. Earlier answers are kept.",
            "articles_once": (
                "No rater gets a second summary of an article, so an article needs as many raters as it has "
                "ratings. Otherwise at least ten other summaries come first, while there are any."
            ),
            "pair_evenly": (
                "Each two raters share about as many summaries with several ratings, even if they work at "
                "different times."
            ),
            "contradiction_notice": "Raters are asked once to review contradictory answers.",
            "gold_round_size": "Gold summaries.",
            "gold_retry_size": "Gold summaries per round.",
            "gold_rounds": "Failed rounds before a manager decides. 0: no limit.",
            "gold_threshold": "Gold answers to match on each question.",
            "check_rate": "Share of a qualified rater's work. 0: none.",
            "check_feedback": "Raters see the agreed answers after each hidden check.",
            "check_threshold": "Minimum share of gold answers matched. 0: never suspend.",
            "check_window": "Number of a rater's last hidden checks that count.",
            "check_minimum": "Hidden checks before a rater can be suspended.",
        }

    def __init__(self, project: Project, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, instance=project, label_suffix="")
        self.questions = project.questionnaire.protocol.questions
        if not rules_of(project.questionnaire.key):
            del self.fields["contradiction_notice"]
        for question in self.questions:
            self.fields[f"threshold:{question.key}"] = PercentField(
                label=f"{question.title} (%)",
                required=False,
                initial=project.gold_thresholds.get(question.key),
            )

    @property
    def thresholds(self) -> list[forms.BoundField]:
        return [self[f"threshold:{question.key}"] for question in self.questions]

    @property
    def has_thresholds(self) -> bool:
        """Return whether a question has a threshold of its own, or an error in one."""
        return any(field.value() not in (None, "") or field.errors for field in self.thresholds)

    def changes(self) -> dict[str, object]:
        """Return the submitted values by the names of `SETTINGS`."""
        own = {
            question.key: self.cleaned_data[f"threshold:{question.key}"]
            for question in self.questions
            if self.cleaned_data[f"threshold:{question.key}"] is not None
        }
        shared = {name: self.cleaned_data[name] for name in self.Meta.fields if name in self.fields}
        return {**shared, "gold_thresholds": own}
