"""Pages of a project's invitations, members and raters."""

from collections.abc import Callable

from django.contrib import messages
from django.db.models import F, Prefetch
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.lookups import one_of
from annotation.models import Project, QualificationRound, Rater
from annotation.people.forms import InvitationForm
from annotation.people.members import (
    effect_of_removal,
    invite,
    qualify_rater,
    reinstate_rater,
    remove_member,
    remove_rater,
    revoke_invitation,
    suspend_rater,
)
from annotation.permissions import Permission
from annotation.progress.progress import ratings_by_rater
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the people. POST invites one and shows the link, which is not stored."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    form = InvitationForm(project, request.POST if request.method == "POST" else None)
    link = ""
    if form.is_valid():
        chosen = form.cleaned_data
        _, token = invite(project, chosen["role"], chosen["all_languages"], chosen["note"])
        link = request.build_absolute_uri(reverse("invitation", args=[token]))
        form = InvitationForm(project)
    raters = project.raters.select_related("user").prefetch_related(
        Prefetch("rounds", QualificationRound.objects.order_by("number"))
    )
    counts = ratings_by_rater(project)
    context = {
        "form": form,
        "link": link,
        "invitations": project.invitations.filter(accepted_at__isnull=True, expires_at__gt=timezone.now()),
        "memberships": project.memberships.select_related("user").order_by("role", "user__username"),
        "raters": [
            (rater, counts.get(rater.pk, 0))
            for rater in raters.order_by(F("user").asc(nulls_last=True), "pseudonym")
        ],
    }
    return render(request, "annotation/people.html", context, status=422 if form.errors else 200)


@require_POST
def invitation_revoke(request: SignedInRequest, slug: str, invitation_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    revoke_invitation(one_of(project.invitations.all(), invitation_id, "invitation"))
    messages.success(request, "Invitation revoked. Its link no longer works.")
    return redirect("people", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def member_remove(request: SignedInRequest, slug: str, membership_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    membership = one_of(project.memberships.select_related("user"), membership_id, "member")
    if request.method == "POST":
        remove_member(membership)
        messages.success(request, f"{membership.user} is no longer a {membership.role} of {project}.")
        return redirect("home") if membership.user == request.user else redirect("people", slug)
    return render(request, "annotation/member_remove.html", {"membership": membership})


@require_http_methods(["GET", "HEAD", "POST"])
def rater_remove(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    rater = _rater(project, rater_id)
    if request.method == "POST":
        remove_rater(rater)
        messages.success(request, f"{rater} removed. You can reinstate them at any time.")
        return redirect("people", slug)
    context = {"rater": rater, "effect": effect_of_removal(rater)}
    return render(request, "annotation/rater_remove.html", context)


def _changing(change: Callable[[Rater], None], outcome: str) -> Callable[..., HttpResponse]:
    @require_POST
    def rater_change(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
        project = open_project(request, slug, Permission.MANAGE_PEOPLE)
        rater = _rater(project, rater_id)
        change(rater)
        messages.success(request, f"{rater} {outcome}.")
        return redirect("people", slug)

    return rater_change


rater_qualify = _changing(qualify_rater, "is now qualified and gets summaries to rate")
rater_suspend = _changing(suspend_rater, "suspended. They get no new summaries; past ratings still count")
rater_reinstate = _changing(reinstate_rater, "reinstated, with all ratings")


def _rater(project: Project, rater_id: int) -> Rater:
    return one_of(project.raters.select_related("user", "project"), rater_id, "rater")
