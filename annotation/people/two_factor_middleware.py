"""Middleware that leads to the set-up page whoever has to use two-factor authentication."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext, gettext_noop

from annotation.people.single_sign_on import SingleSignOnBackend
from annotation.people.two_factor import must_set_up

SINGLE_SIGN_ON = f"{SingleSignOnBackend.__module__}.{SingleSignOnBackend.__qualname__}"
REFUSAL = gettext_noop("Your account needs two-factor authentication. Open your account page to set it up.")


def opens_before_set_up(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a view that opens to people who still have to set up two-factor authentication."""
    view.opens_before_set_up = True  # type: ignore[attr-defined]
    return view


def is_held_up(request: HttpRequest) -> bool:
    """Return whether pages are closed to whoever is signed in until they set up two-factor authentication.

    The provider of single sign-on has its own second factors.
    """
    if not isinstance(request.user, User) or request.session[BACKEND_SESSION_KEY] == SINGLE_SIGN_ON:
        return False
    return must_set_up(request.user)


class TwoFactorMiddleware(MiddlewareMixin):
    """Must come after the middleware that asks who is signed in.

    It also guards views without a login of their own, since they show members more than strangers. Programs
    with an API token have no session, so it lets them pass. The steps of a rating open nothing that a
    manager may, and would take one statement more.
    """

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., Any],
        args: tuple[object, ...],  # noqa: ARG002
        kwargs: dict[str, Any],  # noqa: ARG002
    ) -> HttpResponse | None:
        if getattr(view, "opens_before_set_up", False) or getattr(view, "reads_desk", False):
            return None
        if not is_held_up(request):
            return None
        if request.method in ("GET", "HEAD") and "HX-Request" not in request.headers:
            return redirect("two_factor")
        return render(request, "refused.html", {"message": gettext(REFUSAL)}, status=403)
