"""Pages of a rater's gold rounds: the introduction and the review."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.gold.qualified_languages import current_language, qualified_languages
from annotation.gold.rounds import gold_available, round_size, rounds_used_up, start_round, thresholds
from annotation.models import Rater
from annotation.rating.refusal_views import show_refusals
from annotation.rating.round_review import review_round
from annotation.templatetags.texts import percent
from annotation.web.navigation import open_as_rater
from annotation.web.request_types import SignedInRequest


def round_intro(request: SignedInRequest, rater: Rater, language: str) -> HttpResponse:
    """Show the size of the next round in this language and what it takes to pass."""
    done = list(rater.rounds.filter(language=language, decided_at__isnull=False))
    limits = thresholds(rater.project)
    questions = rater.project.questionnaire.protocol.questions
    context = {
        "rater": rater,
        "language": language,
        "done": done,
        "size": min(gold_available(rater.project, language), round_size(rater.project, len(done))),
        "manager_decides": rounds_used_up(rater, language),
        "threshold": limits.default,
        "exceptions": [
            f"{question.title}: {percent(limits.of(question.key))}"
            for question in questions
            if limits.of(question.key) != limits.default
        ],
    }
    return render(request, "annotation/rating/round_intro.html", context)


@require_POST
@show_refusals
def round_start(request: SignedInRequest, slug: str) -> HttpResponse:
    rater = open_as_rater(request, slug)
    start_round(rater, current_language(rater))
    return redirect("rate", slug)


@require_safe
def round_review(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    rater = open_as_rater(request, slug)
    review = review_round(rater, number)
    context = {
        "rater": rater,
        "review": review,
        "is_qualified": review.language in qualified_languages(rater),
    }
    return render(request, "annotation/rating/round_review.html", context)
