"""The pages of preregistered comparisons."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest, SignedInRequest
from metaeval.live.news import answer, download, results_view
from metaeval.models import Preregistration
from metaeval.preregistrations.forms import PreregistrationForm
from metaeval.preregistrations.page import NoChoices, outcomes_key, preregistrations_page, statement_of
from metaeval.preregistrations.registering import LONGEST_NOTE, preregister, withdraw_preregistration


@results_view(NoChoices)
def preregistrations(request: HtmxRequest, project: Project, choices: NoChoices) -> HttpResponse:
    return answer(
        request,
        project,
        "metaeval/preregistrations.html",
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
        return render(request, "metaeval/preregistration_new.html", {"form": PreregistrationForm(project)})
    form = PreregistrationForm(project, request.POST)
    if form.is_valid():
        try:
            preregister(project, request.user, form.statement)
        except DomainError as error:
            form.refuse(str(error))
        else:
            messages.success(request, "Registered. It cannot be changed any more.")
            return redirect("preregistrations", slug)
    return render(request, "metaeval/preregistration_new.html", {"form": form}, status=422)


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
    return render(request, "metaeval/preregistration_withdraw.html", context, status=422 if error else 200)
