"""Finding summaries, and the agreed answers of a gold item."""

from collections.abc import Mapping

from django import forms

from annotation import protocol
from annotation.actions.gold_set import AgreedAnswer
from annotation.browsing import LONGEST_SEARCH, Filters, Shown
from annotation.manager_forms.choices import article_languages, offer
from annotation.models import GoldRating, Project
from annotation.templatetags.texts import answer_label, language_name


class SummaryFilterForm(forms.Form):
    shown = forms.ChoiceField(
        label="Show",
        required=False,
        choices=[
            (Shown.ALL, "all summaries"),
            (Shown.RATED, "rated"),
            (Shown.UNRATED, "to be rated, without a rating"),
            (Shown.FLAGGED, "of flagged articles"),
            (Shown.GOLD, "gold set"),
        ],
    )
    language = forms.ChoiceField(required=False)
    system = forms.ChoiceField(required=False)
    text = forms.CharField(
        label="Text",
        required=False,
        max_length=LONGEST_SEARCH,
        widget=forms.TextInput(attrs={"type": "search"}),
        help_text="In summaries and titles.",
    )

    def __init__(self, project: Project, data: Mapping[str, str]) -> None:
        super().__init__(data, auto_id="filter_%s", label_suffix="")
        languages = ((code, f"{language_name(code)} ({code})") for code in article_languages(project))
        offer(self, "language", [("", "all"), *languages])
        systems = project.systems.values_list("name", flat=True)
        offer(self, "system", [("", "all"), *((name, name) for name in systems)])

    def filters(self) -> Filters:
        """What was asked for; a field that holds what there is not admits all."""
        self.is_valid()
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        return Filters(**{**chosen, "shown": Shown(chosen.get("shown", Shown.ALL))})


class GoldForm(forms.Form):
    """For each question the agreed answer and its explanation, as the fields `<key>` and `why:<key>`."""

    def __init__(
        self, questionnaire: protocol.Questionnaire, gold: GoldRating | None, data: Mapping[str, str] | None
    ) -> None:
        super().__init__(data, label_suffix="")
        self.questionnaire = questionnaire
        known = {answer.question.key: answer for answer in gold.answers.all()} if gold else {}
        for question in questionnaire.questions:
            answer = known.get(question.key)
            self.fields[question.key] = _answer_field(
                question,
                answer.value if answer else "",
                may_stay_unasked=any(
                    earlier.stops_rating_on and earlier.stage < question.stage
                    for earlier in questionnaire.questions
                ),
            )
            self.fields[f"why:{question.key}"] = forms.CharField(
                label="Why",
                required=False,
                initial=answer.explanation if answer else "",
                widget=forms.Textarea(attrs={"rows": 2}),
            )

    @property
    def rows(self) -> list[tuple[protocol.Question, forms.BoundField, forms.BoundField]]:
        return [
            (question, self[question.key], self[f"why:{question.key}"])
            for question in self.questionnaire.questions
        ]

    def agreed(self) -> dict[str, AgreedAnswer]:
        """The questions that are answered or explained; a question that is not asked has neither."""
        answers = {
            question.key: AgreedAnswer(
                self.cleaned_data[question.key], self.cleaned_data[f"why:{question.key}"]
            )
            for question in self.questionnaire.questions
        }
        return {key: answer for key, answer in answers.items() if answer.value or answer.explanation}

    def refuse(self, fields: Mapping[str, str]) -> None:
        for key, message in fields.items():
            self.add_error(key if key in self.fields else None, message)


def _answer_field(question: protocol.Question, initial: str, *, may_stay_unasked: bool) -> forms.Field:
    if not question.scale.choices:
        return forms.CharField(label=question.title, required=False, initial=initial, max_length=32)
    choices = [(value, answer_label(value)) for value in question.scale.choices]
    if may_stay_unasked:
        choices.append(("", "Not asked"))
    return forms.ChoiceField(
        label=question.title,
        required=False,
        initial=initial,
        choices=choices,
        widget=forms.RadioSelect,
    )
