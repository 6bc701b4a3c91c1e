"""Pages of a rater's own past ratings, and their correction."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotation.errors import GuidelinesUnconfirmed, InvalidAnswers
from annotation.models import Rater
from annotation.permissions import may_stop_rating
from annotation.rating.desk import GivenAnswer
from annotation.rating.history import (
    OpenedRating,
    PastAnswer,
    finished_ratings,
    open_rating,
    past_rating,
    possible_values,
)
from annotation.rating.own_figures import own_counts, own_pace
from annotation.rating.refusal_views import show_refusals
from annotation.rating.reopening import REOPENED, reopen_rating, reopenable_rating
from annotation.rating.sheet_form import read_answer
from annotation.rating.submitting import correct_answer
from annotation.web.ids_first import IdsFirstPaginator
from annotation.web.navigation import open_as_rater
from annotation.web.request_types import SignedInRequest

RATINGS_ON_A_PAGE = 20


@dataclass(frozen=True)
class AnswerRow:
    """A past answer with its correction form. `form` is a refused correction, or else the answer."""

    past: PastAnswer
    possible: frozenset[str]
    form: GivenAnswer
    error: str

    @property
    def limited(self) -> bool:
        return len(self.possible) < len(self.past.question.scale.choices)


@require_safe
def history(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the rater's finished ratings, or with `shown=voided` only the voided ones."""
    rater = open_as_rater(request, slug)
    only_voided = request.GET.get("shown") == "voided"
    listed = finished_ratings(rater)
    if only_voided:
        listed = listed.filter(voided_at__isnull=False)
    page = IdsFirstPaginator(listed, RATINGS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "ratings": [past_rating(rating) for rating in page],
        "counts": own_counts(rater),
        "pace": own_pace(rater),
        "only_voided": only_voided,
        "rounds": rater.rounds.filter(decided_at__isnull=False),
        "reopenable": reopenable_rating(rater),
        "may_stop": may_stop_rating(request.user, rater.project),
    }
    return render(request, "annotation/rating/history.html", context)


@require_safe
def history_rating(request: SignedInRequest, slug: str, rating_id: int) -> HttpResponse:
    rater = open_as_rater(request, slug)
    return _rating_page(request, rater, open_rating(rater, rating_id))


@require_POST
def history_correct(request: SignedInRequest, slug: str, rating_id: int, question_key: str) -> HttpResponse:
    rater = open_as_rater(request, slug)
    opened = open_rating(rater, rating_id)
    answer = read_answer(request.POST, question_key)
    try:
        correct_answer(rater, rating_id, question_key, answer)
    except InvalidAnswers as wrong:
        # The error may be under another question's key that the answer contradicts.
        error = wrong.fields.get(question_key) or " ".join(wrong.fields.values())
        return _rating_page(request, rater, opened, question_key, answer, error)
    except GuidelinesUnconfirmed as refused:
        return _rating_page(request, rater, opened, question_key, answer, str(refused))
    messages.success(request, gettext("Correction saved. Your earlier answer is kept."))
    return redirect("history_rating", slug, rating_id)


@require_POST
@show_refusals
def history_reopen(request: SignedInRequest, slug: str, rating_id: int) -> HttpResponse:
    """Re-open the latest rating and go to it."""
    assignment = reopen_rating(open_as_rater(request, slug), rating_id)
    messages.info(request, gettext(REOPENED))
    return redirect("rate_item", slug, assignment.pk)


def _rating_page(
    request: SignedInRequest,
    rater: Rater,
    opened: OpenedRating,
    refused_key: str = "",
    refused: GivenAnswer | None = None,
    error: str = "",
) -> HttpResponse:
    questionnaire = rater.project.questionnaire.protocol
    rows = [
        AnswerRow(
            past,
            possible_values(questionnaire, opened.rating, past.question.key),
            refused if refused and past.question.key == refused_key else past.current,
            error if past.question.key == refused_key else "",
        )
        for past in opened.rating.answers
    ]
    context = {
        "opened": opened,
        "rows": rows,
        "reopenable": reopenable_rating(rater),
        "may_correct": rater.project.allow_corrections
        and rater.project.closed_at is None
        and rater.status != Rater.Status.SUSPENDED
        and not opened.rating.void_reason
        and not opened.rating.gold_shown
        and not opened.rating.is_reopened,
    }
    return render(request, "annotation/rating/history_rating.html", context, status=422 if error else 200)
