"""Pages of raters, for managers and researchers. They show pseudonyms."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.contradictions.rules import rules_of
from annotation.lookups import one_of
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.raters.page import rater_list, rater_page, removal_figures


@require_safe
def raters(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    context = {"page": rater_list(project), "rules": rules_of(project.questionnaire.key)}
    return render(request, "metaeval/raters.html", context)


@require_safe
def rater(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = one_of(project.raters.select_related("project"), rater_id, "rater")
    context = {
        "page": rater_page(found),
        "may_manage": Permission.MANAGE_PEOPLE in project.reader_may,
    }
    return render(request, "metaeval/rater.html", context)


@require_safe
def rater_without(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Show what removing a rater does to agreement, as a part of the page that asks."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    found = one_of(project.raters.select_related("project"), rater_id, "rater")
    questions = removal_figures(found)
    undefined = dict.fromkeys(each.without.reason for each in questions if each.without.reason)
    return render(request, "metaeval/_without.html", {"questions": questions, "undefined": list(undefined)})
