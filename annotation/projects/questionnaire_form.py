"""Forms of a questionnaire: title, stages and up to `MOST_QUESTIONS` questions."""

from collections.abc import Mapping

from django import forms
from django.forms import BaseFormSet, formset_factory
from django.utils.text import slugify

from annotation import protocol

MOST_QUESTIONS = 12
QUESTIONS_AT_FIRST = 3
YES_NO = "yes_no_unsure"
POINTS = "points"


def _key(title: str) -> str:
    return slugify(title).replace("-", "_")


def _check_key(title: str) -> None:
    if not _key(title):
        raise forms.ValidationError("Use some letters a-z or digits. The key in files is made from them.")


class QuestionnaireForm(forms.Form):
    title = forms.CharField(
        max_length=200, validators=[_check_key], help_text="Shown where managers choose a questionnaire."
    )
    stage_titles = forms.CharField(
        label="Stages",
        widget=forms.Textarea(attrs={"rows": 2}),
        initial="Language\nAgainst the article",
        help_text="One per line, in order. Submitting a stage locks its answers.",
    )

    def clean_stage_titles(self) -> tuple[str, ...]:
        lines = self.cleaned_data["stage_titles"].splitlines()
        return tuple(line.strip() for line in lines if line.strip())


class QuestionForm(forms.Form):
    key = forms.SlugField(required=False, max_length=60, widget=forms.HiddenInput)
    """The key of a copied question, which names the same dimension in other words."""
    title = forms.CharField(
        label="Name",
        max_length=60,
        validators=[_check_key],
    )
    wording = forms.CharField(label="Wording", widget=forms.Textarea(attrs={"rows": 2}), max_length=1000)
    stage = forms.IntegerField(min_value=1, max_value=9, initial=1)
    scale = forms.ChoiceField(choices=[(YES_NO, "Yes, No, Unsure"), (POINTS, "Points")], initial=YES_NO)
    low = forms.IntegerField(label="Lowest point", required=False, initial=1, min_value=-100, max_value=100)
    high = forms.IntegerField(label="Highest point", required=False, initial=5, min_value=-100, max_value=100)
    needs_article = forms.BooleanField(label="Show article", required=False)
    stops_rating_on = forms.CharField(
        label="Answers that end the rating",
        required=False,
        max_length=60,
        help_text="Separated by commas, for example “no”. Later stages are then skipped.",
    )

    def clean(self) -> dict[str, object]:
        super().clean()
        sent = self.cleaned_data
        scale = protocol.YES_NO_UNSURE
        if sent.get("scale") == POINTS:
            low, high = sent.get("low"), sent.get("high")
            if low is None or high is None or low >= high:
                self.add_error("high", "Enter a lowest point and a higher highest point.")
                return sent
            if high - low > 100:
                self.add_error("high", "A scale has at most 101 points.")
                return sent
            scale = protocol.Scale(protocol.ScaleKind.ORDINAL, low=low, high=high)
        stops = tuple(
            part.strip().lower() for part in sent.get("stops_rating_on", "").split(",") if part.strip()
        )
        if any(value not in scale.choices for value in stops):
            self.add_error(
                "stops_rating_on",
                f"Found {', '.join(stops)}, expected answers of the scale: {', '.join(scale.choices)}.",
            )
        return sent | {"scale": scale, "stops_rating_on": stops}

    def question(self) -> protocol.Question:
        sent = self.cleaned_data
        key = sent["key"] or _key(sent["title"])
        return protocol.Question(
            key=key,
            dimension=key,
            title=sent["title"],
            wording=sent["wording"],
            stage=sent["stage"],
            scale=sent["scale"],
            needs_article=sent["needs_article"],
            stops_rating_on=sent["stops_rating_on"],
        )


class _Questions(BaseFormSet):
    def initial_form_count(self) -> int:
        return 0  # those with `initial` values are as new as the others, and may stay empty

    def total_form_count(self) -> int:
        if self.is_bound or self.initial is None:
            return super().total_form_count()
        return len(self.initial)

    def clean(self) -> None:
        if not any(form.has_changed() for form in self.forms):
            raise forms.ValidationError("Add at least one question.")


QuestionFormSet = formset_factory(
    QuestionForm,
    formset=_Questions,
    extra=QUESTIONS_AT_FIRST,
    max_num=MOST_QUESTIONS,
    absolute_max=MOST_QUESTIONS,
    validate_max=True,
)


def can_be_copied(questionnaire: protocol.Questionnaire) -> bool:
    """Return whether the forms can hold every question. Imports bring other scales and more questions."""
    scales = [question.scale for question in questionnaire.questions]
    return len(scales) <= MOST_QUESTIONS and all(
        scale == protocol.YES_NO_UNSURE or scale.kind == protocol.ScaleKind.ORDINAL for scale in scales
    )


def copied_forms(questionnaire: protocol.Questionnaire) -> tuple[QuestionnaireForm, BaseFormSet]:
    """Return the forms of a new questionnaire, filled with those of one that `can_be_copied`."""
    questions = [
        {
            "key": question.key,
            "title": question.title,
            "wording": question.wording,
            "stage": question.stage,
            "needs_article": question.needs_article,
            "stops_rating_on": ", ".join(question.stops_rating_on),
        }
        | (
            {"scale": POINTS, "low": int(question.scale.low or 0), "high": int(question.scale.high or 0)}
            if question.scale.kind == protocol.ScaleKind.ORDINAL
            else {"scale": YES_NO}
        )
        for question in questionnaire.questions
    ]
    texts = {"title": f"Copy of {questionnaire.title}", "stage_titles": "\n".join(questionnaire.stage_titles)}
    return QuestionnaireForm(initial=texts), QuestionFormSet(initial=questions)


def edited_forms(sent: Mapping[str, str], edit: str) -> tuple[QuestionnaireForm, BaseFormSet]:
    """Return the forms as they were sent, after an edit of the list of questions, and not yet checked.

    The edit is "add", or "remove-2", "up-2" or "down-2" for the third question. Any other changes nothing.
    """
    questions: list[dict[str, object]] = [
        {name: sent.get(f"form-{place}-{name}", "") for name in QuestionForm.base_fields}
        for place in range(QuestionFormSet(sent).total_form_count())
    ]
    action, _, number = edit.partition("-")
    place = next((place for place in range(len(questions)) if number == str(place)), None)
    if action == "add" and len(questions) < MOST_QUESTIONS:
        place = len(questions)
        questions.append({})
    elif action in ("remove", "up", "down") and place is not None:
        moved = questions.pop(place)
        if action != "remove":
            place = max(place - 1, 0) if action == "up" else min(place + 1, len(questions))
            questions.insert(place, moved)
    form = QuestionnaireForm(initial={name: sent.get(name, "") for name in QuestionnaireForm.base_fields})
    formset = QuestionFormSet(initial=questions)
    if place is not None and questions:
        focused = formset.forms[min(place, len(questions) - 1)]
        focused.fields["title"].widget.attrs["autofocus"] = True
    return form, formset


def defined(form: QuestionnaireForm, questions: BaseFormSet) -> protocol.Questionnaire:
    """Return the questionnaire, questions in the order of stages. Raises ValueError if it is invalid."""
    asked = [each.question() for each in questions.forms if each.has_changed()]
    return protocol.Questionnaire(
        key=_key(form.cleaned_data["title"])[:60],
        title=form.cleaned_data["title"],
        stage_titles=form.cleaned_data["stage_titles"],
        questions=tuple(sorted(asked, key=lambda question: question.stage)),
    )
