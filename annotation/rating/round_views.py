"""Pages of a rater's gold rounds: the introduction and the review."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.gold.rounds import gold_available, round_size, start_round, thresholds
from annotation.models import Rater
from annotation.rating.refusal_views import show_refusals
from annotation.rating.round_review import review_round
from annotation.web.navigation import open_as_rater
from annotation.web.request_types import SignedInRequest


def round_intro(request: SignedInRequest, rater: Rater) -> HttpResponse:
    """Show the size of the next round and what it takes to pass."""
    done = list(rater.rounds.filter(decided_at__isnull=False))
    limits = thresholds(rater.project)
    questions = rater.project.questionnaire.protocol.questions
    context = {
        "rater": rater,
        "done": done,
        "size": min(gold_available(rater), round_size(rater.project, len(done))),
        "threshold": limits.default,
        "exceptions": [
            (question, limits.of(question.key))
            for question in questions
            if limits.of(question.key) != limits.default
        ],
    }
    return render(request, "annotation/round_intro.html", context)


@require_POST
@show_refusals
def round_start(request: SignedInRequest, slug: str) -> HttpResponse:
    start_round(open_as_rater(request, slug))
    return redirect("rate", slug)


@require_safe
def round_review(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    rater = open_as_rater(request, slug)
    context = {"rater": rater, "review": review_round(rater, number)}
    return render(request, "annotation/round_review.html", context)
