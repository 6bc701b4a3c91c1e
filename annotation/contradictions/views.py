"""The report of contradictory answers."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.contradictions.report import (
    contradictions_by_rater,
    contradictions_in,
    contradictory_ratings,
)
from annotation.contradictions.rules import rules_of
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest

RATINGS_ON_A_PAGE = 25


@require_safe
def contradictions(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    raters = contradictions_by_rater(project)
    chosen = request.GET.get("rater", "")
    ratings = contradictory_ratings(project).select_related("rater", "summary__article", "summary__system")
    if chosen:
        ratings = ratings.filter(rater__pseudonym=chosen)
    page = Paginator(ratings, RATINGS_ON_A_PAGE).get_page(request.GET.get("page"))
    found = contradictions_in(project, list(page))
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "rules": rules_of(project.questionnaire.key),
        "raters": raters,
        "chosen": chosen,
        "page": page,
        "rows": [(rating, found[rating.pk]) for rating in page],
        "query": kept.urlencode(),
        "manages": Permission.MANAGE_PROJECT in project.reader_may,
    }
    return render(request, "annotation/contradictions/contradictions.html", context)
