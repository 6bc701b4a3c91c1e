"""Signing in and out, accepting an invitation, and the account page."""

from math import ceil

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LogoutView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.models import Project, Role
from annotation.people.account_forms import (
    ApiTokenForm,
    EmailForm,
    NewAccountForm,
    NewPasswordForm,
    SignInForm,
)
from annotation.people.api_tokens import delete_api_token, issue_api_token
from annotation.people.invitations import accept_invitation, find_invitation
from annotation.people.own_sessions import end_other_sessions, end_session, sessions_of
from annotation.people.sign_in_limits import wait_of
from annotation.people.single_sign_on import is_configured
from annotation.people.two_factor import has_two_factor
from annotation.people.two_factor_middleware import opens_before_set_up
from annotation.people.two_factor_views import PasswordView
from annotation.templatetags.figures import count, wait
from annotation.web.request_types import SignedInRequest


def _sign_on_name() -> str:
    """Return the name of single sign-on; empty if passwords are the only way."""
    return gettext(settings.OIDC_NAME) if is_configured() else ""


sign_in = PasswordView.as_view(
    template_name="registration/sign_in.html",
    authentication_form=SignInForm,
    redirect_authenticated_user=True,
    extra_context={"sign_on": _sign_on_name},
)


def sign_in_refused(
    request: HttpRequest, _: HttpResponse | None, credentials: dict[str, str] | None
) -> HttpResponse:
    """Say how long to wait, in words and in the header that programs read."""
    seconds = ceil(wait_of(request).total_seconds())
    context = {"wait": wait(seconds), "username": (credentials or {}).get("username", "")}
    refusal = render(request, "registration/locked_out.html", context, status=429)
    refusal["Retry-After"] = str(seconds)
    return refusal


sign_out = opens_before_set_up(login_not_required(LogoutView.as_view()))


@login_not_required
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation, and accept it with a new account or as the signed-in user."""
    invited = find_invitation(token)
    form = NewAccountForm(
        request.POST if request.method == "POST" else None, initial={"email": invited.email}
    )
    if request.method == "POST" and isinstance(request.user, User):
        return _to_first_page(accept_invitation(token, request.user), invited.role)
    if form.is_valid():
        with transaction.atomic():
            user = form.save()
            project = accept_invitation(token, user)
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        return _to_first_page(project, invited.role)
    context = {"invitation": invited, "form": form}
    return render(request, "registration/invitation.html", context, status=422 if form.errors else 200)


def _to_first_page(project: Project, role: str) -> HttpResponse:
    return redirect("rate" if role == Role.ANNOTATOR else "progress", project.slug)


@require_safe
def account(request: SignedInRequest) -> HttpResponse:
    return _account_page(request)


@require_POST
def token_new(request: SignedInRequest) -> HttpResponse:
    """Create a token and show it. It is not stored, so a redirect could not show it."""
    form = ApiTokenForm(request.user, request.POST)
    if not form.is_valid():
        return _account_page(request, token_form=form)
    _, token = issue_api_token(request.user, **form.cleaned_data)
    return _account_page(request, new_token=token)


@require_POST
def token_delete(request: SignedInRequest, token_id: int) -> HttpResponse:
    token = delete_api_token(request.user, token_id)
    deleted = gettext("Token “%(label)s” deleted. Programs can no longer use it.") % {"label": token.label}
    messages.success(request, deleted)
    return redirect("account")


@require_POST
def session_end(request: SignedInRequest, session_id: str) -> HttpResponse:
    ended = end_session(request.user, request.session.session_key, session_id)
    messages.success(request, gettext("Signed out: %(browser)s.") % {"browser": ended.browser})
    return redirect("account")


@require_POST
def sessions_end(request: SignedInRequest) -> HttpResponse:
    ended = end_other_sessions(request.user, request.session.session_key)
    signed_out = ngettext(
        "Signed out of %(n)s other session.", "Signed out of %(n)s other sessions.", ended
    ) % {"n": count(ended)}
    messages.success(request, signed_out)
    return redirect("account")


@sensitive_post_parameters()
@require_POST
def password(request: SignedInRequest) -> HttpResponse:
    form = NewPasswordForm(request.user, request.POST)
    if not form.is_valid():
        return _account_page(request, password_form=form)
    with transaction.atomic():
        user = form.save()
        record(Action.PASSWORD_CHANGED, None)
    update_session_auth_hash(request, user)
    messages.success(request, gettext("Password changed. All other sessions and your API tokens have ended."))
    return redirect("account")


@sensitive_post_parameters()
@require_POST
def email(request: SignedInRequest) -> HttpResponse:
    form = EmailForm(request.POST, instance=User.objects.get(pk=request.user.pk))
    if not form.is_valid():
        return _account_page(request, email_form=form)
    with transaction.atomic():
        form.save()
        record(Action.EMAIL_CHANGED, None)
    messages.success(request, gettext("E-mail address saved."))
    return redirect("account")


def _account_page(
    request: SignedInRequest,
    token_form: ApiTokenForm | None = None,
    password_form: NewPasswordForm | None = None,
    email_form: EmailForm | None = None,
    new_token: str = "",
) -> HttpResponse:
    context = {
        "tokens": request.user.api_tokens.select_related("project"),
        "new_token": new_token,
        "token_form": token_form or ApiTokenForm(request.user),
        "sessions": sessions_of(request.user, request.session.session_key),
        "password_form": password_form or NewPasswordForm(request.user),
        "has_two_factor": has_two_factor(request.user),
        "sign_on": _sign_on_name(),
        "identities": request.user.sign_on_identities.count(),
        "email_form": email_form or EmailForm(instance=request.user),
    }
    refused = any((token_form, password_form, email_form))
    return render(request, "registration/account.html", context, status=422 if refused else 200)
