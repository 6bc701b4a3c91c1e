"""Responses of the rater's pages to refused requests."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget

from annotation.errors import AssignmentGone, CampaignClosed, DomainError, GuidelinesUnconfirmed, StageClosed
from annotation.web.request_types import SignedInRequest

P = ParamSpec("P")
View = Callable[Concatenate[SignedInRequest, P], HttpResponse]


def show_refusals(view: View[P]) -> View[P]:
    """Show a refusal with a link onwards: above the answers for htmx, otherwise as a page.

    A rater who has to confirm the guidelines is sent to them.
    """

    @wraps(view)
    def guarded(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except GuidelinesUnconfirmed:
            return leave(request, reverse("guidelines", kwargs={"slug": kwargs["slug"]}))
        except DomainError as refusal:
            context = {
                "message": str(refusal),
                "can_continue": isinstance(refusal, StageClosed | AssignmentGone),
            }
            if request.htmx:
                response = render(request, "annotation/rating/_trouble.html", context, status=refusal.status)
                return reswap(retarget(response, "#trouble"), "innerHTML")
            if isinstance(refusal, CampaignClosed):
                return render(request, "annotation/rating/rate_closed.html", status=refusal.status)
            if context["can_continue"]:
                return render(request, "annotation/rating/rate_refused.html", context, status=refusal.status)
            raise

    return guarded


def leave(request: SignedInRequest, address: str) -> HttpResponse:
    """Send the browser to another page."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
