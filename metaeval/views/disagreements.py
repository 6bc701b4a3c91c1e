"""The disagreement browser: its list, one disagreement with all texts, and the tags."""

from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.rerating import ask_for_rerating, reratings_of, take_back_rerating
from annotation.browsing import ratings_of, references_of, summary_in
from annotation.context import open_project
from annotation.errors import NotFound
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, permissions_of
from annotation.signed_in import SignedInRequest
from annotation.walk import Walk
from metaeval.actions import tag_disagreement, untag_disagreement
from metaeval.models import DisagreementTag
from metaeval.snapshot import snapshot_of
from metaeval.summaries.disagreements_page import DisagreementChoices, disagreement_rows, disagreements_page
from metaeval.summaries.ranked_rows import ranked_rows
from metaeval.views.answers import download
from scoring.contract import GENERAL
from scoring.models import EvaluatorSetup, Score

ROWS_ON_A_PAGE = 25


@never_cache
@login_required
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
        "walk": Walk.along([row.summary.pk for row in rows], request.get_full_path()),
        "verdicts": DisagreementTag.Verdict,
        "may_tag": Permission.TAG_DISAGREEMENTS in permissions_of(request.user, project),
    }
    return render(request, "metaeval/disagreements.html", context)


@never_cache
@login_required
@require_safe
def disagreements_csv(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = disagreements_page(project, snapshot_of(project), DisagreementChoices.read(request.GET))
    rows = list(disagreement_rows(project, found)) if found else []
    return download(rows, f"{slug}-disagreements.csv")


@never_cache
@login_required
@require_safe
def disagreement(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Texts, ratings and the evaluator's words: a page, and for a row of the list what it opens."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    setup = one_of(EvaluatorSetup.objects.filter(project=project), setup_id, "evaluator")
    summary = summary_in(project, summary_id)
    keys = [question.key for question in project.questionnaire.protocol.questions]
    if question_key not in keys:
        raise NotFound("There is no such question in this project.")
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
        "may_tag": Permission.TAG_DISAGREEMENTS in permissions_of(request.user, project),
    }
    template = "metaeval/_disagreement_texts.html" if request.htmx else "metaeval/disagreement.html"
    return render(request, template, context)


@login_required
@require_POST
def disagreement_tag(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Sets the tag, or removes it where the verdict is empty. A row of the list gets its tag back, and the
    list its new counts."""
    project = open_project(request, slug, Permission.TAG_DISAGREEMENTS)
    verdict = request.POST.get("verdict", "")
    tag = None
    if verdict:
        note = request.POST.get("note", "")
        tag = tag_disagreement(project, request.user, setup_id, question_key, summary_id, verdict, note)
    else:
        untag_disagreement(project, request.user, setup_id, question_key, summary_id)
    done = "The tag is kept." if tag else "The tag is removed."
    return _answered(request, project, setup_id, question_key, summary_id, done)


@login_required
@require_POST
def disagreement_rerating(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Sends the summary to be rated once more, or takes that back where `again` is empty."""
    project = open_project(request, slug, Permission.TAG_DISAGREEMENTS)
    one_of(EvaluatorSetup.objects.filter(project=project), setup_id, "evaluator")
    if request.POST.get("again"):
        ask_for_rerating(project, request.user, summary_id)
        done = "A rater who has not seen it yet will be given this summary to rate."
    else:
        take_back_rerating(project, request.user, summary_id)
        done = "The summary is not sent to be rated once more."
    return _answered(request, project, setup_id, question_key, summary_id, done)


def _answered(
    request: SignedInRequest, project: Project, setup_id: int, question_key: str, summary_id: int, done: str
) -> HttpResponse:
    """For a row of the list its tag and rerating as they are now, and the list's counts; else the page."""
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
