"""The page of a rater's qualification, and the manager's decisions on it."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
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


def _deciding(decide: Callable[[Rater, User, str], object], outcome: str) -> Callable[..., HttpResponse]:
    """Return a view that makes this decision on a rater in the posted language, and says `outcome`."""

    @require_POST
    def decision(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
        rater = _rater(open_project(request, slug, Permission.MANAGE_PEOPLE), rater_id)
        language = request.POST.get("language", "")
        decide(rater, request.user, language)
        messages.success(request, outcome.format(rater=rater, language=language_name(language)))
        return redirect("rater_qualification", slug, rater_id)

    return decision


def _rater(project: Project, rater_id: int) -> Rater:
    rater = one_of(project.raters.select_related("user"), rater_id, "rater")
    rater.project = project
    return rater


rater_qualify = _deciding(qualify_rater, "{rater} is now qualified in {language}.")
rater_allow_round = _deciding(allow_round, "{rater} can do another gold round in {language}.")
rater_unqualify = _deciding(
    withdraw_qualification, "{rater} needs another gold round in {language}. Past ratings still count."
)
