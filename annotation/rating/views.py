"""The rating page: one summary, stage by stage."""

from functools import lru_cache

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import replace_url

from annotation.errors import (
    CampaignClosed,
    ContradictoryAnswers,
    DomainError,
    GuidelinesUnconfirmed,
    InvalidAnswers,
)
from annotation.gold.qualified_languages import current_language, work_languages
from annotation.guidelines.following import require_confirmed
from annotation.models import Assignment, Rater, Rating
from annotation.rating.assigning import skip_assignment
from annotation.rating.current_assignment import daily_goal, next_assignment, round_progress
from annotation.rating.desk import DailyGoal, Desk, desk_at
from annotation.rating.desk_middleware import reads_desk
from annotation.rating.refusal_views import leave, show_refusals
from annotation.rating.reopening import REOPENED, keep_rating, reopen_rating, reopenable_at
from annotation.rating.round_views import round_intro
from annotation.rating.sheet_form import QuestionRow, StageSheet, question_rows, read_sheet
from annotation.rating.shown_item import shown_item
from annotation.rating.submitting import flag_article, save_draft, submit_at
from annotation.web.navigation import enter_project, open_as_rater
from annotation.web.request_types import SignedInRequest

QUESTIONS_KEPT = 512


@require_safe
@show_refusals
def rate(request: SignedInRequest, slug: str) -> HttpResponse:
    """Redirect to the rater's next summary or to the choice of a language, or say why there is neither."""
    rater = open_as_rater(request, slug)
    if rater.status == Rater.Status.SUSPENDED:
        return render(request, "annotation/rating/rate_suspended.html", status=403)
    if rater.project.closed_at is not None:
        raise CampaignClosed
    language = current_language(rater)
    if not language:
        require_confirmed(rater)
        return redirect("rate_languages", slug)
    assignment = next_assignment(rater)
    if assignment is not None:
        return redirect("rate_item", slug, assignment.pk)
    if not work_languages(rater):
        return round_intro(request, rater, language)
    context = {"rater": rater, "language": language, "day": daily_goal(rater)}
    return render(request, "annotation/rating/rate_nothing_left.html", context)


@reads_desk
@require_http_methods(["GET", "HEAD", "POST"])
@show_refusals
def rate_item(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Show the open stage. POST submits it and responds with what comes next."""
    desk = _sit_down(request, slug, assignment_id)
    if request.method != "POST":
        return _item_page(request, desk)
    sheet = read_sheet(request.POST)
    counted_today = desk.is_counted_today
    try:
        desk = submit_at(
            desk,
            sheet.stage,
            sheet.given,
            keeps_contradictions=sheet.keeps_contradictions,
            takes_next=True,
        )
    except InvalidAnswers as wrong:
        return _item_page(request, desk.again(), sheet, wrong)
    except ContradictoryAnswers as doubtful:
        return _item_page(request, desk.again(), sheet, doubtful=doubtful)
    except GuidelinesUnconfirmed:
        save_draft(desk.rater, assignment_id, sheet.stage, sheet.given)
        messages.info(request, gettext("The guidelines have changed. Your answers are saved as a draft."))
        raise
    if desk.assignment.state != Assignment.State.DONE:
        return _go_to(request, desk)
    return _after_finishing(request, desk, counted_today=counted_today)


def _sit_down(request: SignedInRequest, slug: str, assignment_id: int) -> Desk:
    """Return the person's desk at this assignment. Raises as `open_as_rater` and `desk_at`."""
    found = getattr(request, "found_desk", None)
    if found is not None and found.may_rate:
        enter_project(request, found.project)
        return found.desk()
    return desk_at(open_as_rater(request, slug), assignment_id)


def _after_finishing(request: SignedInRequest, desk: Desk, *, counted_today: bool) -> HttpResponse:
    """Respond with the next summary, or with the review of the round that has ended."""
    slug, round_, rating = desk.rater.project.slug, desk.assignment.round, desk.rating
    assert rating is not None
    reaches_goal = desk.day.rated == desk.day.goal and not counted_today
    if round_ is not None:
        if round_.decided_at is not None:
            return leave(request, reverse("round_review", args=[slug, round_.number]))
        messages.success(request, gettext("Saved."))
    elif desk.rater.status == Rater.Status.SUSPENDED:
        return leave(request, reverse("rate", args=[slug]))
    elif rating.gold_shown_at is not None:
        if reaches_goal:
            messages.success(request, _goal_reached(desk.day), extra_tags="goal")
        return leave(request, reverse("check_review", args=[slug, rating.pk]))
    else:
        of_the_day = _goal_reached(desk.day) if reaches_goal else _so_far(desk.day)
        messages.success(
            request, _saved_message(rating, of_the_day), extra_tags="goal" if reaches_goal else ""
        )
    return _go_to(request, desk.next) if desk.next else _go_on(request, desk.rater)


def _saved_message(rating: Rating, of_the_day: str) -> str:
    project = rating.rater.project
    return format_html(
        '{} {} <a href="{}">{}</a>',
        gettext("Saved."),
        of_the_day,
        reverse("history_rating", args=[project.slug, rating.pk]),
        gettext("Correct it") if project.allow_corrections else gettext("View it"),
    )


def _goal_reached(day: DailyGoal) -> str:
    return gettext("You have reached today’s goal of %(goal)s. Thank you.") % {"goal": day.goal}


def _so_far(day: DailyGoal) -> str:
    if day.rated < day.goal:
        message = gettext("Rating %(rated)s of %(goal)s today.")
    else:
        message = gettext("Rating %(rated)s today; the daily goal is %(goal)s.")
    return message % {"rated": day.rated, "goal": day.goal}


def _go_on(request: SignedInRequest, rater: Rater) -> HttpResponse:
    """Respond with the next summary, or with the page that says why there is none."""
    following = next_assignment(rater)
    if following is None:
        return leave(request, reverse("rate", args=[rater.project.slug]))
    return _go_to(request, desk_at(rater, following.pk))


def _go_to(request: SignedInRequest, desk: Desk) -> HttpResponse:
    if request.htmx:
        return _item_page(request, desk)
    return redirect("rate_item", desk.rater.project.slug, desk.assignment.pk)


def _item_page(
    request: SignedInRequest,
    desk: Desk,
    sent: StageSheet | None = None,
    wrong: InvalidAnswers | None = None,
    doubtful: ContradictoryAnswers | None = None,
) -> HttpResponse:
    desk.require_open()
    item = shown_item(desk)
    context = {
        "rater": desk.rater,
        "item": item,
        "questions": [
            _question_html(row, get_language())
            for row in question_rows(item, sent.given if sent else None, wrong.fields if wrong else None)
        ],
        "contradictions": list(dict.fromkeys(doubtful.fields.values())) if doubtful else (),
        "doubtful": [
            row.question.title for row in item.asked if doubtful and row.question.key in doubtful.fields
        ],
        "day": desk.day,
        "round": round_progress(desk.assignment.round) if desk.assignment.round else None,
        "reopenable": reopenable_at(desk),
        "skip_reasons": Assignment.SkipReason.choices,
    }
    template = "annotation/rating/rate.html#item" if request.htmx else "annotation/rating/rate.html"
    response = render(request, template, context, status=422 if wrong or doubtful else 200)
    if request.htmx:
        return replace_url(response, reverse("rate_item", args=[desk.rater.project.slug, item.assignment_id]))
    return response


@lru_cache(QUESTIONS_KEPT)
def _question_html(row: QuestionRow, language: str) -> str:  # noqa: ARG001
    """Render a question once for all raters of the active `language`: with the same answer it looks the same.

    Rendering the questions anew took half of a page's time.
    """
    return render_to_string("annotation/_question.html", {"row": row, "question": row.asked.question})


@require_POST
def rate_draft(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Save unsubmitted answers. Respond with 204, or with the refusal as plain text for the script."""
    try:
        sheet = read_sheet(request.POST)
        save_draft(open_as_rater(request, slug), assignment_id, sheet.stage, sheet.given)
    except DomainError as refusal:
        return HttpResponse(str(refusal), status=refusal.status, content_type="text/plain; charset=utf-8")
    return HttpResponse(status=204)


@require_POST
@show_refusals
def rate_flag(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Flag the article. The form also holds the answers, so save them as a draft."""
    rater = open_as_rater(request, slug)
    sheet = read_sheet(request.POST)
    save_draft(rater, assignment_id, sheet.stage, sheet.given)
    reason = "" if "withdraw" in request.POST else request.POST.get("flag", "")
    flag_article(rater, assignment_id, reason)
    desk = desk_at(rater, assignment_id)
    desk.require_open()
    if request.htmx:
        return render(request, "annotation/_flag.html", {"item": shown_item(desk)})
    return _go_to(request, desk)


@require_POST
@show_refusals
def rate_skip(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Skip the summary and respond with the next one."""
    rater = open_as_rater(request, slug)
    skip_assignment(rater, assignment_id, request.POST.get("reason", ""))
    messages.info(
        request, gettext("Summary skipped. It goes to another rater and does not come back to you.")
    )
    return _go_on(request, rater)


@require_POST
@show_refusals
def rate_undo(request: SignedInRequest, slug: str, assignment_id: int, rating_id: int) -> HttpResponse:
    """Re-open the latest rating. The form also holds the answers of the open one, so save them as a draft."""
    rater = open_as_rater(request, slug)
    sheet = read_sheet(request.POST)
    save_draft(rater, assignment_id, sheet.stage, sheet.given)
    assignment = reopen_rating(rater, rating_id)
    messages.info(request, gettext(REOPENED))
    return _go_to(request, desk_at(rater, assignment.pk))


@require_POST
@show_refusals
def rate_keep(request: SignedInRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Close the re-opened rating as it was and respond with what comes next."""
    rater = open_as_rater(request, slug)
    kept = keep_rating(rater, assignment_id)
    messages.info(request, gettext("Your rating stays as it was."))
    if kept.round is not None and kept.round.decided_at is not None:
        return leave(request, reverse("round_review", args=[slug, kept.round.number]))
    return _go_on(request, rater)
