"""Pages that add summaries to the gold set, with proposed answers, edit their answers and remove them."""

from collections import Counter
from collections.abc import Mapping

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import protocol
from annotation.adjudication.decisions import decisions_on
from annotation.errors import InvalidAnswers
from annotation.gold.coverage import gold_coverage, gold_shortages
from annotation.gold.gold_set import (
    AgreedAnswer,
    gold_answers_of,
    remove_from_gold_set,
    restore_to_gold_set,
    set_gold_answers,
    used_in_rounds,
)
from annotation.gold.rescoring import rounds_decided_differently
from annotation.models import Answer, Rating, Summary
from annotation.permissions import Permission, permissions_of
from annotation.summaries.find_summaries import summary_in
from annotation.templatetags.texts import answer_label
from annotation.web.form_refusals import add_field_refusals
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


def proposed_gold_answers(summary: Summary, user: User) -> dict[str, AgreedAnswer]:
    """Return the decided answers with their notes, or else those that most raters gave, by question key.

    A tie proposes nothing, and neither does a question after an answer that ends the rating. A user who may
    not see raters' answers gets no proposals.
    """
    if Permission.SEE_TEXTS_AND_RATINGS not in permissions_of(user, summary.project):
        return {}
    questionnaire = summary.project.questionnaire.protocol
    decided = {each.question.key: each for each in decisions_on(summary).current()}
    given: dict[str, Counter[str]] = {}
    counted = Rating.objects.countable().filter(summary=summary)
    answers = Answer.objects.current().filter(rating__in=counted)
    for key, value in answers.values_list("question__key", "value"):
        given.setdefault(key, Counter())[value] += 1
    proposed = {}
    for question in questionnaire.questions:
        if question.key in decided:
            decision = decided[question.key]
            proposed[question.key] = AgreedAnswer(decision.value, decision.note)
        elif value := _most_frequent(given.get(question.key, Counter())):
            proposed[question.key] = AgreedAnswer(value, "")
    stop = protocol.stopped_by(questionnaire, {key: each.value for key, each in proposed.items()})
    return {
        question.key: proposed[question.key]
        for question in questionnaire.questions
        if question.key in proposed and (stop is None or question.stage <= stop.stage)
    }


def _most_frequent(answers: Counter[str]) -> str:
    """Return the answer given most often; empty for none and for a tie."""
    first = answers.most_common(2)
    if not first or (len(first) == 2 and first[0][1] == first[1][1]):
        return ""
    return first[0][0]


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


@require_safe
def gold_set(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what the gold set has in each language, and what it lacks."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    context = {
        "coverage": gold_coverage(project),
        "shortages": gold_shortages(project),
        "rescored": rounds_decided_differently(project),
        "questions": project.questionnaire.protocol.questions,
    }
    return render(request, "annotation/gold/set.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def gold_answers(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    summary = summary_in(project, summary_id)
    gold = getattr(summary, "gold", None)
    known = gold_answers_of(gold) if gold else proposed_gold_answers(summary, request.user)
    form = GoldForm(project.questionnaire.protocol, known, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            set_gold_answers(summary, form.agreed(), request.user)
        except InvalidAnswers as refused:
            add_field_refusals(form, refused.fields)
        else:
            messages.success(request, "Gold answers saved.")
            if rounds_decided_differently(project):
                messages.warning(request, "Some past rounds would now be decided differently. See Gold set.")
            return redirect("summary", slug, summary_id)
    context = {"summary": summary, "gold": gold, "form": form, "is_proposed": bool(known) and not gold}
    return render(request, "annotation/gold/answers.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def gold_remove(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    summary = summary_in(project, summary_id)
    if request.method == "POST":
        remove_from_gold_set(summary, to_be_rated="to_be_rated" in request.POST)
        messages.success(request, "Summary removed from the gold set.")
        return redirect("summary", slug, summary_id)
    context = {"summary": summary, "used": used_in_rounds(summary)}
    return render(request, "annotation/gold/remove.html", context)


@require_POST
def gold_restore(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    restore_to_gold_set(summary_in(project, summary_id))
    messages.success(request, "Summary restored to the gold set.")
    return redirect("summary", slug, summary_id)
