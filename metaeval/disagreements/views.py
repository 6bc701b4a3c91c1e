"""The pages of disagreements, and their tags."""

from dataclasses import replace

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.errors import NotFound
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission
from annotation.rating.rerating import request_rerating, reratings_of, withdraw_rerating
from annotation.summaries.find_summaries import ratings_of, references_of, summary_in
from annotation.summaries.summary_trail import SummaryTrail
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.disagreements.page import DisagreementChoices, disagreement_rows, disagreements_page
from metaeval.disagreements.ranked_rows import ranked_rows
from metaeval.disagreements.tags import tag_disagreement, untag_disagreement
from metaeval.live.news import download
from metaeval.models import DisagreementTag
from metaeval.snapshot.snapshot import snapshot_of
from scoring.contract.evaluator import GENERAL
from scoring.models import Score, Setup

ROWS_ON_A_PAGE = 25


@require_safe
def disagreements(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    snapshot = snapshot_of(project)
    found = disagreements_page(project, snapshot, DisagreementChoices.read(request.GET))
    if found is None:
        return render(request, "metaeval/disagreements.html", {"found": None})
    page = Paginator(found.listed, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    rows = ranked_rows(project, snapshot, found.found.pairs, list(page), found.choices.group)
    context = {
        "found": found,
        "counts": found.counts,
        "page": page,
        "rows": rows,
        "query": found.choices.address().removeprefix("?"),
        "trail": SummaryTrail.of([row.summary.pk for row in rows], request.get_full_path()),
        "verdicts": DisagreementTag.Verdict,
        "may_tag": Permission.TAG_DISAGREEMENTS in project.reader_may,
    }
    return render(request, "metaeval/disagreements.html", context)


@require_safe
def disagreements_csv(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = disagreements_page(project, snapshot_of(project), DisagreementChoices.read(request.GET))
    rows = list(disagreement_rows(project, found)) if found else []
    return download(rows, f"{slug}-disagreements.csv")


@require_safe
def disagreement(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Show texts, ratings and the evaluator's explanation; for htmx without the rest of the page."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    setup = one_of(Setup.objects.filter(project=project), setup_id, "evaluator")
    summary = summary_in(project, summary_id)
    keys = [question.key for question in project.questionnaire.protocol.questions]
    if question_key not in keys:
        raise NotFound("This project has no such question.")
    question = project.questionnaire.protocol.questions[keys.index(question_key)]
    scores = Score.objects.filter(setup=setup, summary=summary)
    context = {
        "setup": setup,
        "question": question,
        "summary": summary,
        "references": references_of(summary),
        "ratings": [(row, row.answers[keys.index(question_key)]) for row in ratings_of(summary)],
        "scores": scores.filter(dimension__in=(question.dimension, GENERAL)).order_by("dimension"),
        "tag": DisagreementTag.objects.current()
        .of_pair(setup_id, question_key)
        .filter(summary=summary)
        .first(),
        "verdicts": DisagreementTag.Verdict,
        "rerating": reratings_of([summary_id]).get(summary_id),
        "may_tag": Permission.TAG_DISAGREEMENTS in project.reader_may,
    }
    template = "metaeval/_disagreement_texts.html" if request.htmx else "metaeval/disagreement.html"
    return render(request, template, context)


@require_POST
def disagreement_tag(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Set the tag, or remove it if the verdict is empty."""
    project = open_project(request, slug, Permission.TAG_DISAGREEMENTS)
    verdict = request.POST.get("verdict", "")
    tag = None
    if verdict:
        note = request.POST.get("note", "")
        tag = tag_disagreement(project, request.user, setup_id, question_key, summary_id, verdict, note)
    else:
        untag_disagreement(project, request.user, setup_id, question_key, summary_id)
    done = "Tag saved." if tag else "Tag removed."
    return _tagged(request, project, setup_id, question_key, summary_id, done)


@require_POST
def disagreement_rerating(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Request another rating of the summary, or cancel the request if `again` is empty."""
    project = open_project(request, slug, Permission.TAG_DISAGREEMENTS)
    one_of(Setup.objects.filter(project=project), setup_id, "evaluator")
    if request.POST.get("again"):
        request_rerating(project, request.user, summary_id)
        done = "Rating requested. A rater who has not seen this summary will get it."
    else:
        withdraw_rerating(project, request.user, summary_id)
        done = "Request for another rating cancelled."
    return _tagged(request, project, setup_id, question_key, summary_id, done)


def _tagged(
    request: SignedInRequest, project: Project, setup_id: int, question_key: str, summary_id: int, done: str
) -> HttpResponse:
    """Redirect to the page; for htmx return the row's tag and the counts of the list."""
    if not request.htmx:
        messages.success(request, done)
        return redirect("disagreement", project.slug, setup_id, question_key, summary_id)
    choices = DisagreementChoices.read(request.GET)
    of_pair = replace(choices, evaluator=str(setup_id), question=question_key)
    found = disagreements_page(project, snapshot_of(project), of_pair)
    tags = DisagreementTag.objects.current().of_pair(setup_id, question_key)
    context = {
        "setup_id": setup_id,
        "question_key": question_key,
        "summary_id": summary_id,
        "tag": tags.filter(summary=summary_id).first(),
        "rerating": reratings_of([summary_id]).get(summary_id),
        "verdicts": DisagreementTag.Verdict,
        "may_tag": True,
        "choices": choices,
        "counts": found.counts if found else None,
    }
    return render(request, "metaeval/_verdict.html#answer", context)
