"""The summaries behind the figures: those of a region of the plot, and the numbers of one."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.permissions import Permission
from annotation.summaries.find_summaries import summary_in
from annotation.summaries.summary_trail import SummaryTrail
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.disagreements.ranked_rows import ranked_rows
from metaeval.disagreements.region import RegionChoices, region_page
from metaeval.disagreements.summary_scores import summary_scores as scores_of
from metaeval.snapshot.snapshot import snapshot_of

ROWS_ON_A_PAGE = 25


@require_safe
def comparison_summaries(request: SignedInRequest, slug: str) -> HttpResponse:
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
        "trail": SummaryTrail.of([row.summary.pk for row in rows], request.get_full_path()),
    }
    return render(request, "metaeval/summaries.html", context)


@require_safe
def summary_scores(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    """Show all labels and scores of one summary; for htmx only the tables."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    summary = summary_in(project, summary_id)
    context = {"summary": summary, "found": scores_of(snapshot_of(project), summary)}
    template = "metaeval/summary_scores.html"
    return render(request, f"{template}#scores" if request.htmx else template, context)
