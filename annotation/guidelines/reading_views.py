"""The guidelines as raters read and confirm them."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotation.errors import DomainError
from annotation.guidelines.following import (
    FollowedVersion,
    confirm_guidelines,
    current_guidelines,
    followed_versions,
)
from annotation.guidelines.rendering import RenderedGuidelines, render_guidelines
from annotation.lookups import read_number
from annotation.models import Rater
from annotation.texts.word_diff import Piece, changed_passages
from annotation.web.navigation import open_as_rater
from annotation.web.request_types import SignedInRequest


@dataclass(frozen=True)
class ShownGuidelines:
    """A version with the parts for the rater's languages, and what it changes for them."""

    followed: FollowedVersion
    rendered: RenderedGuidelines
    passages: list[tuple[Piece, ...]]


@require_http_methods(["GET", "HEAD", "POST"])
def guidelines(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the guidelines that the rater follows. POST confirms them.

    For htmx, return only those for summaries in the parameter `language`.
    """
    rater = open_as_rater(request, slug)
    if request.method == "POST":
        return _confirm(request, rater)
    if request.htmx:
        return _for_one_language(request, rater, request.GET.get("language", ""))
    shown = [_shown(rater, followed) for followed in followed_versions(rater)]
    context = {
        "shown": shown,
        "unconfirmed": [each.followed.version for each in shown if each.followed.confirmed_at is None],
        "rater": rater,
    }
    return render(request, "annotation/guidelines/guidelines.html", context)


def _confirm(request: SignedInRequest, rater: Rater) -> HttpResponse:
    sent = map(read_number, request.POST.getlist("version"))
    ids = {pk for pk in sent if pk is not None}
    try:
        confirm_guidelines(rater, ids)
    except DomainError as refused:
        messages.warning(request, str(refused))
        return redirect("guidelines", rater.project.slug)
    messages.success(request, gettext("Guidelines confirmed."))
    return redirect("rate", rater.project.slug)


def _for_one_language(request: SignedInRequest, rater: Rater, language: str) -> HttpResponse:
    version = current_guidelines(rater.project).version_for(language)
    questions = rater.project.questionnaire.protocol.questions
    context = {
        "version": version,
        "rendered": render_guidelines(version.text, questions, [language]) if version else None,
    }
    return render(request, "annotation/guidelines/_guidelines.html", context)


def _shown(rater: Rater, followed: FollowedVersion) -> ShownGuidelines:
    version, before = followed.version, followed.confirmed_before
    return ShownGuidelines(
        followed,
        render_guidelines(
            version.text,
            rater.project.questionnaire.protocol.questions,
            followed.languages,
            id_prefix=f"guidelines-{version.language}-",
        ),
        changed_passages(before.text, version.text) if before else [],
    )
