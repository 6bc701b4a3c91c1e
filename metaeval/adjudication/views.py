"""The pages of adjudication. They show raters' pseudonyms."""

from collections.abc import Mapping

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.adjudication.decisions import DecidedAnswer, decide_answers, withdraw_decision
from annotation.errors import InvalidAnswers
from annotation.models import Project
from annotation.permissions import Permission
from annotation.summaries.find_summaries import references_of, summary_in
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.adjudication.item import questions_to_decide, read_decisions
from metaeval.adjudication.page import Queue, QueueChoices, queue_as_rows, queue_of, queue_rows
from metaeval.live.news import download

ROWS_ON_A_PAGE = 25


@require_safe
def adjudication(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the queue of summaries on which raters disagree."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    queue = queue_of(project, QueueChoices.read(request.GET))
    page = Paginator(queue.listed, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "queue": queue,
        "page": page,
        "rows": queue_rows(project, queue, [int(place) for place in page]),
        "query": queue.choices.address().removeprefix("?"),
        "may_decide": Permission.ADJUDICATE in project.reader_may,
    }
    return render(request, "metaeval/adjudication.html", context)


@require_safe
def adjudication_csv(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    queue = queue_of(project, QueueChoices.read(request.GET))
    return download(list(queue_as_rows(project, queue)), f"{slug}-adjudication.csv")


@require_http_methods(["GET", "HEAD", "POST"])
def adjudicate(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    """Show a summary with all answers. POST decides some questions and shows the next summary."""
    is_post = request.method == "POST"
    needed = Permission.ADJUDICATE if is_post else Permission.SEE_TEXTS_AND_RATINGS
    project = open_project(request, slug, needed)
    queue = queue_of(project, QueueChoices.read(request.GET))
    if not is_post:
        return _item_page(request, project, queue, summary_id)
    given = read_decisions(request.POST, project.questionnaire.protocol)
    try:
        made = decide_answers(project, request.user, summary_id, given)
    except InvalidAnswers as refused:
        missing = {key: "Choose an answer for this note." for key, each in given.items() if not each.value}
        errors = {**refused.fields, **missing}
        return _item_page(request, project, queue, summary_id, given, errors)
    if made:
        address = reverse("adjudicate", args=[slug, summary_id]) + queue.choices.address()
        done = "Decision saved." if len(made) == 1 else f"{len(made)} decisions saved."
        messages.success(request, format_html('{} <a href="{}">View or change</a>', done, address))
    else:
        messages.info(request, "No decision was changed.")
    following = _neighbours(queue, summary_id)[1]
    if following is None:
        return redirect(reverse("adjudication", args=[slug]) + queue.choices.address())
    return redirect(reverse("adjudicate", args=[slug, following]) + queue.choices.address())


@require_POST
def adjudication_withdraw(
    request: SignedInRequest, slug: str, summary_id: int, question_key: str
) -> HttpResponse:
    project = open_project(request, slug, Permission.ADJUDICATE)
    withdraw_decision(project, request.user, summary_id, question_key)
    messages.success(request, "Decision withdrawn. It is kept among the earlier decisions.")
    choices = QueueChoices.read(request.GET)
    return redirect(reverse("adjudicate", args=[slug, summary_id]) + choices.address())


def _neighbours(queue: Queue, summary_id: int) -> tuple[int | None, int | None, int]:
    """Return the previous and the next summary of the queue, and the number of this one; 0 outside it.

    From outside the queue, for example after a decision, its first summary is next.
    """
    ids = queue.summary_ids
    if summary_id not in ids:
        return None, next(iter(ids), None), 0
    at = ids.index(summary_id)
    return (ids[at - 1] if at else None), (ids[at + 1] if at + 1 < len(ids) else None), at + 1


def _item_page(
    request: SignedInRequest,
    project: Project,
    queue: Queue,
    summary_id: int,
    given: Mapping[str, DecidedAnswer] | None = None,
    errors: Mapping[str, str] | None = None,
) -> HttpResponse:
    summary = summary_in(project, summary_id)
    questions = questions_to_decide(summary, given, errors)
    previous, following, number = _neighbours(queue, summary_id)
    context = {
        "summary": summary,
        "references": references_of(summary),
        "disputed": [each for each in questions if each.is_in_dispute or each.error],
        "others": [each for each in questions if not (each.is_in_dispute or each.error)],
        "gold": getattr(summary, "gold", None),
        "previous": previous,
        "following": following,
        "number": number,
        "of": len(queue.listed),
        "address": queue.choices.address(),
        "first": queue.choices.question,
        "may_decide": Permission.ADJUDICATE in project.reader_may,
        "sees_names": Permission.MANAGE_PEOPLE in project.reader_may,
    }
    return render(request, "metaeval/adjudicate.html", context, status=422 if errors else 200)
