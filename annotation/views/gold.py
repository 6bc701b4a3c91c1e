"""Gold rounds as the rater in training meets them: the way in, and the review afterwards."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.gold_rounds import gold_available, round_size, start_round, thresholds
from annotation.context import open_as_rater
from annotation.gold_review import review_round
from annotation.models import Rater
from annotation.signed_in import SignedInRequest


def round_intro(request: SignedInRequest, rater: Rater) -> HttpResponse:
    """What the next round is, how many summaries it has and what it takes to pass."""
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


@never_cache
@login_required
@require_POST
def round_start(request: SignedInRequest, slug: str) -> HttpResponse:
    start_round(open_as_rater(request, slug))
    return redirect("rate", slug)


@never_cache
@login_required
@require_safe
def round_review(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    rater = open_as_rater(request, slug)
    context = {"rater": rater, "review": review_round(rater, number)}
    return render(request, "annotation/round_review.html", context)
