"""Browsing the project's summaries, and one summary with all that is known about it."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.browsing import (
    find_summaries,
    flags_of,
    rating_counts,
    ratings_of,
    references_of,
    summary_in,
)
from annotation.context import open_project
from annotation.manager_forms.summaries import SummaryFilterForm
from annotation.permissions import Permission, permissions_of
from annotation.signed_in import SignedInRequest
from annotation.walk import Walk

SUMMARIES_ON_A_PAGE = 25


@never_cache
@login_required
@require_safe
def summaries(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    form = SummaryFilterForm(project, request.GET)
    found = find_summaries(project, form.filters())
    page = Paginator(found, SUMMARIES_ON_A_PAGE).get_page(request.GET.get("page"))
    listed = list(page)
    counts = rating_counts(listed)
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "form": form,
        "page": page,
        "rows": [(summary, counts.get(summary.pk, 0)) for summary in listed],
        "query": kept.urlencode(),
        "walk": Walk.along([summary.pk for summary in listed], request.get_full_path()),
        "filtered": any(request.GET.get(name) for name in form.fields),
        "manages": Permission.MANAGE_PROJECT in permissions_of(request.user, project),
    }
    return render(request, "annotation/summaries.html", context)


@never_cache
@login_required
@require_safe
def summary(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = summary_in(project, summary_id)
    gold = getattr(found, "gold", None)
    walk = Walk.read(request.GET, slug)
    context = {
        "summary": found,
        "walk": walk,
        "place": walk.place(found.pk),
        "gold": gold,
        "gold_answers": gold.answers.select_related("question") if gold else (),
        "references": references_of(found),
        "questions": project.questionnaire.protocol.questions,
        "rows": ratings_of(found),
        "flags": flags_of(found),
        "manages": Permission.MANAGE_PROJECT in permissions_of(request.user, project),
    }
    return render(request, "annotation/summary.html", context)
