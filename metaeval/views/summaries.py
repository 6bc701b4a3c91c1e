"""From the figures to single summaries: the list behind a region of the plot, and what one summary got."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.browsing import summary_in
from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest
from annotation.walk import Walk
from metaeval.snapshot import snapshot_of
from metaeval.summaries.ranked_rows import ranked_rows
from metaeval.summaries.region import RegionChoices, region_page
from metaeval.summaries.summary_scores import summary_scores as scores_of

ROWS_ON_A_PAGE = 25


@never_cache
@login_required
@require_safe
def metaeval_summaries(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    snapshot = snapshot_of(project)
    region = region_page(snapshot, RegionChoices.read(request.GET))
    if region is None:
        return render(request, "metaeval/summaries.html", {"region": None})
    page = Paginator(region.listed, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    rows = ranked_rows(project, snapshot, region.pairs, list(page), region.choices.group)
    context = {
        "region": region,
        "page": page,
        "rows": rows,
        "query": region.choices.address().removeprefix("?"),
        "walk": Walk.along([row.summary.pk for row in rows], request.get_full_path()),
    }
    return render(request, "metaeval/summaries.html", context)


@never_cache
@login_required
@require_safe
def summary_scores(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    """What people and evaluators said of one summary: a page, and for the summary's own page the tables."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    summary = summary_in(project, summary_id)
    context = {"summary": summary, "found": scores_of(snapshot_of(project), summary)}
    template = "metaeval/summary_scores.html"
    return render(request, f"{template}#scores" if request.htmx else template, context)
