"""Leaving for the OpenID Connect provider, and coming back."""

import logging

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe
from josepy.errors import Error as TokenError
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from annotation.errors import DomainError, NotFound
from annotation.people.single_sign_on import Discovered, is_configured

logger = logging.getLogger(__name__)

PROVIDER_FAILED = (SuspiciousOperation, TokenError, OSError, ValueError, KeyError)
FAILED = gettext_noop(
    "Single sign-on failed. Try again, or ask your administrator to look into the server's log."
)


class _StartView(Discovered, OIDCAuthenticationRequestView):
    """Sends the browser to the provider. By POST only, so that no other site can start it."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        return super().get(request)


class _ReturnView(Discovered, OIDCAuthenticationCallbackView):
    def login_failure(self) -> HttpResponseRedirect:
        return _failed(self.request)


@login_not_required
@require_POST
def oidc_start(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider: to sign in, or to connect the account that is signed in."""
    _require_configured()
    try:
        return _StartView.as_view()(request)
    except PROVIDER_FAILED:
        logger.warning("The OpenID Connect provider cannot be used.", exc_info=True)
        return _failed(request)


@login_not_required
@require_safe
def oidc_return(request: HttpRequest) -> HttpResponse:
    """Sign in whoever comes back from the provider."""
    _require_configured()
    was_signed_in = request.user.is_authenticated
    if "error" in request.GET:
        logger.warning("The OpenID Connect provider refused: %s", request.GET["error"][:200])
        return _failed(request)
    try:
        response = _ReturnView.as_view()(request)
    except DomainError:
        raise
    except PROVIDER_FAILED:
        logger.warning("Somebody could not sign in with OpenID Connect.", exc_info=True)
        return _failed(request)
    if was_signed_in:
        messages.success(request, gettext("Your account is connected. You can now use single sign-on."))
        return redirect("account")
    return response


def _require_configured() -> None:
    if not is_configured():
        raise NotFound(gettext("This platform has no single sign-on."))


def _failed(request: HttpRequest) -> HttpResponseRedirect:
    messages.error(request, gettext(FAILED))
    return redirect("account" if request.user.is_authenticated else "sign_in")
