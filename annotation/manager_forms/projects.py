"""A new project, and a project's settings."""

from collections.abc import Mapping

from django import forms

from annotation import protocol
from annotation.actions.projects import SETTINGS
from annotation.manager_forms.choices import offer
from annotation.models import Project, Questionnaire


class ProjectForm(forms.Form):
    name = forms.CharField(
        max_length=120, help_text="For example “News in six languages”. It can be changed later."
    )
    slug = forms.SlugField(
        label="Address",
        required=False,
        max_length=60,
        help_text="Letters a-z, digits and hyphens; made from the name if you leave it empty.",
    )
    questionnaire = forms.ChoiceField(widget=forms.RadioSelect, help_text="What raters are asked.")
    redundancy = forms.IntegerField(
        label="Ratings for each summary",
        min_value=1,
        max_value=100,
        initial=1,
        help_text="How many people rate the same summary. It can be changed later, also for a share of them.",
    )

    def __init__(self, data: Mapping[str, str] | None = None, questionnaire: str = "") -> None:
        super().__init__(
            data, initial={"questionnaire": questionnaire or protocol.SEAHORSE.key}, label_suffix=""
        )
        stored = Questionnaire.objects.exclude(key__in=protocol.BUILT_IN).order_by("title")
        offer(
            self,
            "questionnaire",
            [
                *((key, built_in.title) for key, built_in in protocol.BUILT_IN.items()),
                *stored.values_list("key", "title"),
            ],
        )

    def chosen_questionnaire(self) -> protocol.Questionnaire:
        key = self.cleaned_data["questionnaire"]
        return protocol.BUILT_IN.get(key) or Questionnaire.objects.get(key=key).protocol


class SettingsForm(forms.ModelForm):
    """The project's settings; `threshold:<key>` are the questions with a threshold of their own."""

    class Meta:
        model = Project
        fields = [name for name in SETTINGS if name != "gold_thresholds"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}
        labels = {
            "redundancy": "Ratings for each summary",
            "extra_share": "Share of the shared part",
            "extra_redundancy": "Ratings in the shared part",
            "lease_minutes": "Minutes for a summary",
            "daily_goal": "Summaries a day",
            "allow_corrections": "Raters may correct finished ratings",
            "gold_round_size": "First round",
            "gold_retry_size": "Further rounds",
            "gold_threshold": "Least agreement",
        }
        help_texts = {
            "redundancy": "How many people rate the same summary.",
            "extra_share": "From 0 to 1: this share of the summaries, drawn at random, gets another number.",
            "extra_redundancy": "Three or more tell how well raters agree.",
            "lease_minutes": "An unfinished summary then goes to another rater.",
            "daily_goal": "What a rater is asked for; nobody is stopped there.",
            "allow_corrections": "The first answer is kept for audit; later corrections are marked.",
            "gold_round_size": "Gold summaries.",
            "gold_retry_size": "Gold summaries, until one round is passed.",
            "gold_threshold": "From 0 to 1: the share of gold answers to match, on each question.",
        }

    def __init__(self, project: Project, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, instance=project, label_suffix="")
        self.questions = project.questionnaire.protocol.questions
        for question in self.questions:
            self.fields[f"threshold:{question.key}"] = forms.FloatField(
                label=question.title,
                required=False,
                min_value=0,
                max_value=1,
                initial=project.gold_thresholds.get(question.key),
                widget=forms.NumberInput(attrs={"step": "any"}),
            )

    @property
    def thresholds(self) -> list[forms.BoundField]:
        return [self[f"threshold:{question.key}"] for question in self.questions]

    def changes(self) -> dict[str, object]:
        """What was sent, by the names of `SETTINGS`."""
        own = {
            question.key: self.cleaned_data[f"threshold:{question.key}"]
            for question in self.questions
            if self.cleaned_data[f"threshold:{question.key}"] is not None
        }
        return {**{name: self.cleaned_data[name] for name in self.Meta.fields}, "gold_thresholds": own}
