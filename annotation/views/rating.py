"""The rating page: one summary, stage by stage."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, replace_url, reswap, retarget

from annotation.actions.assigning import skip_assignment
from annotation.actions.rating import flag_article, save_draft, submit_stage
from annotation.answer_sheet import StageSheet, question_rows, read_sheet
from annotation.context import open_as_rater
from annotation.errors import AssignmentGone, DomainError, InvalidAnswers, StageClosed
from annotation.models import Assignment, Rater
from annotation.rating_queue import assignment_with, day_of, next_assignment, round_progress
from annotation.reveal import shown_item
from annotation.signed_in import SignedInRequest
from annotation.views.gold import round_intro

P = ParamSpec("P")
View = Callable[Concatenate[SignedInRequest, P], HttpResponse]


def with_way_on(view: View[P]) -> View[P]:
    """Show a refusal with the way on: above the answers, which stay, for htmx; as a page otherwise."""

    @wraps(view)
    def guarded(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except DomainError as refusal:
            context = {"message": str(refusal), "go_on": isinstance(refusal, StageClosed | AssignmentGone)}
            if request.htmx:
                response = render(request, "annotation/_trouble.html", context, status=refusal.status)
                return reswap(retarget(response, "#trouble"), "innerHTML")
            if context["go_on"]:
                return render(request, "annotation/rate_refused.html", context, status=refusal.status)
            raise

    return guarded


@never_cache
@login_required
@require_safe
def rate(request: SignedInRequest, slug: str) -> HttpResponse:
    """To the rater's next summary; where there is none, the reason."""
    rater = open_as_rater(request, slug)
    if rater.status == Rater.Status.SUSPENDED:
        return render(request, "annotation/rate_suspended.html", status=403)
    assignment = next_assignment(rater)
    if assignment is not None:
        return redirect("rate_item", slug, assignment.pk)
    if rater.status == Rater.Status.TRAINING:
        return round_intro(request, rater)
    return render(request, "annotation/rate_nothing_left.html", {"rater": rater, "day": day_of(rater)})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@with_way_on
def rate_item(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """GET shows the open stage; POST submits it and answers with what comes next, in the same response."""
    rater = open_as_rater(request, slug)
    if request.method != "POST":
        return _item_page(request, assignment_with(rater, assignment_id))
    sheet = read_sheet(request.POST)
    try:
        assignment = submit_stage(rater, assignment_id, sheet.stage, sheet.given)
    except InvalidAnswers as wrong:
        return _item_page(request, assignment_with(rater, assignment_id), sheet, wrong)
    if assignment.state != Assignment.State.DONE:
        return _go_to(request, assignment)
    return _go_on(request, rater, assignment)


def _go_on(request: SignedInRequest, rater: Rater, finished: Assignment) -> HttpResponse:
    """From a finished summary to the next one, or to the review of the round that it ended."""
    if finished.round is not None:
        if finished.round.decided_at is not None:
            return _leave(request, reverse("round_review", args=[rater.project.slug, finished.round.number]))
        messages.success(request, "Saved.")
    else:
        messages.success(request, _saved_message(rater, finished))
    following = next_assignment(rater)
    if following is None:
        return _leave(request, reverse("rate", args=[rater.project.slug]))
    return _go_to(request, following)


def _saved_message(rater: Rater, finished: Assignment) -> str:
    day = day_of(rater)
    return format_html(
        '{} <a href="{}">{}</a>',
        f"Saved. Rating {day.rated} of {day.goal} today."
        if day.rated <= day.goal
        else f"Saved. Rating {day.rated} today; {day.goal} were asked for.",
        reverse("history_rating", args=[rater.project.slug, finished.rating.pk]),
        "Correct it" if rater.project.allow_corrections else "Look at it",
    )


def _go_to(request: SignedInRequest, assignment: Assignment) -> HttpResponse:
    if request.htmx:
        return _item_page(request, assignment)
    return redirect("rate_item", assignment.rater.project.slug, assignment.pk)


def _leave(request: SignedInRequest, address: str) -> HttpResponse:
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def _item_page(
    request: SignedInRequest,
    assignment: Assignment,
    sent: StageSheet | None = None,
    wrong: InvalidAnswers | None = None,
) -> HttpResponse:
    item = shown_item(assignment)
    project = assignment.rater.project
    context = {
        "item": item,
        "rows": question_rows(item, sent.given if sent else None, wrong.fields if wrong else None),
        "day": day_of(assignment.rater),
        "round": round_progress(assignment.round) if assignment.round else None,
    }
    template = "annotation/rate.html#item" if request.htmx else "annotation/rate.html"
    response = render(request, template, context, status=422 if wrong else 200)
    if request.htmx:
        return replace_url(response, reverse("rate_item", args=[project.slug, assignment.pk]))
    return response


@never_cache
@login_required
@require_POST
def rate_draft(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Keep unsubmitted answers. Answers 204, or the refusal as plain text for the page's script to show."""
    try:
        sheet = read_sheet(request.POST)
        save_draft(open_as_rater(request, slug), assignment_id, sheet.stage, sheet.given)
    except DomainError as refusal:
        return HttpResponse(str(refusal), status=refusal.status, content_type="text/plain; charset=utf-8")
    return HttpResponse(status=204)


@never_cache
@login_required
@require_POST
@with_way_on
def rate_flag(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Note what is wrong with the article. The same form holds the answers, so they are kept as a draft."""
    rater = open_as_rater(request, slug)
    sheet = read_sheet(request.POST)
    save_draft(rater, assignment_id, sheet.stage, sheet.given)
    reason = "" if "withdraw" in request.POST else request.POST.get("flag", "")
    flag_article(rater, assignment_id, reason)
    assignment = assignment_with(rater, assignment_id)
    if request.htmx:
        return render(request, "annotation/_flag.html", {"item": shown_item(assignment)})
    return _go_to(request, assignment)


@never_cache
@login_required
@require_POST
@with_way_on
def rate_skip(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Give the summary back unrated and go on to the next one."""
    rater = open_as_rater(request, slug)
    skip_assignment(rater, assignment_id)
    messages.info(request, "Skipped. The summary goes to another rater and does not come back to you.")
    following = next_assignment(rater)
    if following is None:
        return _leave(request, reverse("rate", args=[slug]))
    return _go_to(request, following)
