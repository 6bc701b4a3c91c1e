"""Pages that add summaries to the gold set, edit their answers and remove them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import InvalidAnswers
from annotation.gold.coverage import gold_coverage, gold_shortages
from annotation.gold.forms import GoldForm
from annotation.gold.gold_set import (
    gold_answers_of,
    remove_from_gold_set,
    restore_to_gold_set,
    set_gold_answers,
    used_in_rounds,
)
from annotation.gold.proposal import proposed_gold_answers
from annotation.gold.rescoring import rounds_decided_differently
from annotation.permissions import Permission
from annotation.summaries.find_summaries import summary_in
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


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
    return render(request, "annotation/gold_set.html", context)


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
            form.refuse(refused.fields)
        else:
            messages.success(request, "Gold answers saved.")
            if rounds_decided_differently(project):
                messages.warning(request, "Some past rounds would now be decided differently. See Gold set.")
            return redirect("summary", slug, summary_id)
    context = {"summary": summary, "gold": gold, "form": form, "is_proposed": bool(known) and not gold}
    return render(request, "annotation/gold_answers.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def gold_remove(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    summary = summary_in(project, summary_id)
    if request.method == "POST":
        remove_from_gold_set(summary, to_be_rated="to_be_rated" in request.POST)
        messages.success(request, "Summary removed from the gold set.")
        return redirect("summary", slug, summary_id)
    context = {"summary": summary, "used": used_in_rounds(summary)}
    return render(request, "annotation/gold_remove.html", context)


@require_POST
def gold_restore(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    restore_to_gold_set(summary_in(project, summary_id))
    messages.success(request, "Summary restored to the gold set.")
    return redirect("summary", slug, summary_id)
