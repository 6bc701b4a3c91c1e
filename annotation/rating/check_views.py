"""The page that shows the agreed answers of a finished check."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.rating.check_review import review_check
from annotation.web.navigation import open_as_rater
from annotation.web.request_types import SignedInRequest


@require_safe
def check_review(request: SignedInRequest, slug: str, rating_id: int) -> HttpResponse:
    rater = open_as_rater(request, slug)
    context = {"review": review_check(rater, rating_id), "rating_id": rating_id}
    return render(request, "annotation/rating/check_review.html", context)
