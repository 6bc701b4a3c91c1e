"""The form of a gold item: the agreed answers, each with an explanation."""

from collections.abc import Mapping

from django import forms

from annotation import protocol
from annotation.gold.gold_set import AgreedAnswer
from annotation.templatetags.texts import answer_label


class GoldForm(forms.Form):
    """Fields `<key>` and `why:<key>` hold the agreed answer to each question and its explanation."""

    def __init__(
        self,
        questionnaire: protocol.Questionnaire,
        known: Mapping[str, AgreedAnswer],
        data: Mapping[str, str] | None,
    ) -> None:
        """`known` are the answers to start from, by question key."""
        super().__init__(data, label_suffix="")
        self.questionnaire = questionnaire
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
                label="Explanation",
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
        """Return the questions that have an answer or an explanation."""
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
