"""A rater's own past ratings, and correcting them."""

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.rating import GivenAnswer, correct_answer
from annotation.answer_sheet import read_answer
from annotation.context import open_as_rater
from annotation.errors import InvalidAnswers
from annotation.history import (
    OpenedRating,
    PastAnswer,
    finished_ratings,
    open_rating,
    past_rating,
    possible_values,
)
from annotation.models import Rater
from annotation.signed_in import SignedInRequest

RATINGS_ON_A_PAGE = 20


@dataclass(frozen=True)
class AnswerRow:
    """One past answer and its correction form: `form` holds what was sent and refused, else the answer."""

    past: PastAnswer
    possible: frozenset[str]
    form: GivenAnswer
    error: str

    @property
    def limited(self) -> bool:
        return len(self.possible) < len(self.past.question.scale.choices)


@never_cache
@login_required
@require_safe
def history(request: SignedInRequest, slug: str) -> HttpResponse:
    rater = open_as_rater(request, slug)
    page = Paginator(finished_ratings(rater), RATINGS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "ratings": [past_rating(rating) for rating in page],
        "rounds": rater.rounds.filter(decided_at__isnull=False),
    }
    return render(request, "annotation/history.html", context)


@never_cache
@login_required
@require_safe
def history_rating(request: SignedInRequest, slug: str, rating_id: int) -> HttpResponse:
    rater = open_as_rater(request, slug)
    return _rating_page(request, rater, open_rating(rater, rating_id))


@never_cache
@login_required
@require_POST
def history_correct(request: SignedInRequest, slug: str, rating_id: int, question_key: str) -> HttpResponse:
    rater = open_as_rater(request, slug)
    opened = open_rating(rater, rating_id)
    answer = read_answer(request.POST, question_key)
    try:
        correct_answer(rater, rating_id, question_key, answer)
    except InvalidAnswers as wrong:
        # Under other questions' keys where the answer clashes with theirs; the form is this question's.
        error = wrong.fields.get(question_key) or " ".join(wrong.fields.values())
        return _rating_page(request, rater, opened, question_key, answer, error)
    messages.success(request, "Saved. Your earlier answer stays in the record.")
    return redirect("history_rating", slug, rating_id)


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
        "may_correct": rater.project.allow_corrections and rater.status != Rater.Status.SUSPENDED,
    }
    return render(request, "annotation/history_rating.html", context, status=422 if error else 200)
