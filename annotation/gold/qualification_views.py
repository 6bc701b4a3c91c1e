"""The page of a rater's qualification, and the manager's decisions on it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.gold.qualification_record import qualification_record
from annotation.gold.qualified_languages import qualify_rater, withdraw_qualification
from annotation.gold.rounds import allow_round
from annotation.lookups import one_of
from annotation.models import Project, Rater
from annotation.permissions import Permission
from annotation.templatetags.texts import language_name
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_safe
def rater_qualification(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    rater = _rater(project, rater_id)
    context = {"rater": rater, "languages": qualification_record(rater)}
    return render(request, "annotation/rater_qualification.html", context)


@require_POST
def rater_qualify(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    rater = _rater(open_project(request, slug, Permission.MANAGE_PEOPLE), rater_id)
    language = request.POST.get("language", "")
    qualify_rater(rater, request.user, language)
    messages.success(request, f"{rater} is now qualified in {language_name(language)}.")
    return redirect("rater_qualification", slug, rater_id)


@require_POST
def rater_allow_round(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    rater = _rater(open_project(request, slug, Permission.MANAGE_PEOPLE), rater_id)
    language = request.POST.get("language", "")
    allow_round(rater, request.user, language)
    messages.success(request, f"{rater} can do another gold round in {language_name(language)}.")
    return redirect("rater_qualification", slug, rater_id)


@require_POST
def rater_unqualify(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    rater = _rater(open_project(request, slug, Permission.MANAGE_PEOPLE), rater_id)
    language = request.POST.get("language", "")
    withdraw_qualification(rater, request.user, language)
    messages.success(
        request, f"{rater} needs another gold round in {language_name(language)}. Past ratings still count."
    )
    return redirect("rater_qualification", slug, rater_id)


def _rater(project: Project, rater_id: int) -> Rater:
    rater = one_of(project.raters.select_related("user"), rater_id, "rater")
    rater.project = project
    return rater
