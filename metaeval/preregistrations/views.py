"""The pages of preregistered comparisons."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission
from annotation.web.form_choices import offer
from annotation.web.form_refusals import add_refusal
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest, SignedInRequest
from metaeval.live.news import answer, download, results_view
from metaeval.models import Preregistration
from metaeval.preregistrations.page import NoChoices, outcomes_key, preregistrations_page, statement_of
from metaeval.preregistrations.registering import (
    LONGEST_NOTE,
    Statement,
    preregister,
    withdraw_preregistration,
)
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from scoring.models import Setup


class PreregistrationForm(forms.Form):
    """A claim about two of the project's evaluators."""

    first = forms.ChoiceField(label="Evaluator")
    claim = forms.ChoiceField(label="Claim", choices=Preregistration.Claim.choices)
    second = forms.ChoiceField(label="The other evaluator")
    margin = forms.FloatField(
        label="Margin",
        required=False,
        min_value=0,
        help_text="The loss that still counts as good, in units of the coefficient, such as 0.02. Leave it"
        " empty for 'is better than'.",
    )
    question = forms.ChoiceField(label="Question")
    level = forms.ChoiceField(choices=[(name, each.label) for name, each in LEVELS.items()])
    coefficient = forms.ChoiceField(
        choices=[(name, each.label) for name, each in COEFFICIENTS.items()], initial=Method.coefficient
    )
    language = forms.ChoiceField(label="Language")
    group = forms.ChoiceField(label="Raters", required=False)
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea({"rows": 2}),
        help_text="The reasons for your expectation, for example. Readers of published results see them.",
    )

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        evaluators = list(Setup.objects.filter(project=project).values_list("pk", "label"))
        snapshot = snapshot_of(project)
        choices: dict[str, list[tuple[Any, Any]]] = {
            "first": evaluators,
            "second": evaluators,
            "question": list(project.questionnaire.questions.values_list("key", "title")),
            "language": [(ALL, "all"), *((each, each) for each in snapshot.summaries.language_names)],
            "group": [("", "all"), *((each, each) for each in snapshot.human.groups)],
        }
        for name, offered in choices.items():
            offer(self, name, offered)
        if not snapshot.human.groups:
            del self.fields["group"]
        if len(evaluators) > 1:
            self.initial["second"] = evaluators[1][0]

    @property
    def has_evaluators(self) -> bool:
        """Return whether there are two evaluators to compare."""
        return len(list(self["first"].subwidgets)) > 1

    @property
    def statement(self) -> Statement:
        """Return the statement of a valid form."""
        given = self.cleaned_data
        return Statement(
            given["claim"],
            int(given["first"]),
            int(given["second"]),
            given["question"],
            given["level"],
            given["coefficient"],
            given["margin"] or 0.0,
            given["language"],
            given.get("group", ""),
            given["note"],
        )


@results_view(NoChoices)
def preregistrations(request: HtmxRequest, project: Project, choices: NoChoices) -> HttpResponse:
    return answer(
        request,
        project,
        "metaeval/preregistrations/preregistrations.html",
        partial(preregistrations_page, project, choices),
        [outcomes_key(project, project.revision)],
        may_preregister=Permission.PREREGISTER in project.reader_may,
    )


@results_view(NoChoices)
def preregistrations_csv(_request: HtmxRequest, project: Project, choices: NoChoices) -> HttpResponse:
    page = preregistrations_page(project, choices, wait_s=None)
    return download([row.as_json() for row in page.rows], f"{project.slug}-preregistrations.csv")


@require_http_methods(["GET", "HEAD", "POST"])
def preregistration_new(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.PREREGISTER)
    if request.method != "POST":
        return render(request, "metaeval/preregistrations/new.html", {"form": PreregistrationForm(project)})
    form = PreregistrationForm(project, request.POST)
    if form.is_valid():
        try:
            preregister(project, request.user, form.statement)
        except DomainError as error:
            add_refusal(form, str(error))
        else:
            messages.success(request, "Registered. It cannot be changed any more.")
            return redirect("preregistrations", slug)
    return render(request, "metaeval/preregistrations/new.html", {"form": form}, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
def preregistration_withdraw(request: SignedInRequest, slug: str, preregistration_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.PREREGISTER)
    registered = one_of(
        Preregistration.objects.filter(project=project), preregistration_id, "preregistration"
    )
    error = ""
    if request.method == "POST":
        try:
            withdraw_preregistration(
                project, request.user, preregistration_id, request.POST.get("reason", "")
            )
        except DomainError as refusal:
            error = str(refusal)
        else:
            messages.success(request, "Withdrawn. It stays on record.")
            return redirect("preregistrations", slug)
    titles = dict(project.questionnaire.questions.values_list("key", "title"))
    title = titles.get(registered.question_key, registered.question_key)
    statement = statement_of(registered, registered.first_name, registered.second_name, title)
    context = {"statement": statement, "error": error, "longest": LONGEST_NOTE}
    return render(request, "metaeval/preregistrations/withdraw.html", context, status=422 if error else 200)
