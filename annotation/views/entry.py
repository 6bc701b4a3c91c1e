"""The way in: signing in and out, accepting an invitation, one's own account."""

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions.people import accept_invitation, create_account, find_invitation, issue_api_token
from annotation.errors import NotFound
from annotation.forms import ApiTokenForm, NewAccountForm, NewPasswordForm, SignInForm
from annotation.models import Invitation, Project
from annotation.signed_in import SignedInRequest

sign_in = LoginView.as_view(
    template_name="registration/sign_in.html",
    authentication_form=SignInForm,
    redirect_authenticated_user=True,
)


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """What the invitation is for, and the form that accepts it; one button for who is signed in."""
    invited = find_invitation(token)
    form = NewAccountForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and isinstance(request.user, User):
        return _to_first_page(accept_invitation(token, request.user), invited.role)
    if form.is_valid():
        with transaction.atomic():
            user = create_account(form.cleaned_data["username"], form.cleaned_data["password1"])
            project = accept_invitation(token, user)
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        return _to_first_page(project, invited.role)
    context = {"invitation": invited, "form": form}
    return render(request, "registration/invitation.html", context, status=422 if form.errors else 200)


def _to_first_page(project: Project, role: str) -> HttpResponse:
    return redirect("rate" if role == Invitation.Role.ANNOTATOR else "progress", project.slug)


@never_cache
@login_required
@require_safe
def account(request: SignedInRequest) -> HttpResponse:
    return _account_page(request)


@never_cache
@login_required
@require_POST
def token_new(request: SignedInRequest) -> HttpResponse:
    """The one page that shows the new token: its text is not stored, so a redirect could not show it."""
    form = ApiTokenForm(request.POST)
    if not form.is_valid():
        return _account_page(request, token_form=form)
    _, token = issue_api_token(request.user, form.cleaned_data["label"])
    return _account_page(request, new_token=token)


@never_cache
@login_required
@require_POST
def token_delete(request: SignedInRequest, token_id: int) -> HttpResponse:
    token = request.user.api_tokens.filter(pk=token_id).first()
    if token is None:
        raise NotFound("You have no such token (any more).")
    token.delete()
    messages.success(request, f"The token “{token.label}” is deleted. Programs that use it are refused now.")
    return redirect("account")


@never_cache
@sensitive_post_parameters()
@login_required
@require_POST
def password(request: SignedInRequest) -> HttpResponse:
    form = NewPasswordForm(request.user, request.POST)
    if not form.is_valid():
        return _account_page(request, password_form=form)
    update_session_auth_hash(request, form.save())
    messages.success(request, "Your password is changed. You are signed out everywhere else.")
    return redirect("account")


def _account_page(
    request: SignedInRequest,
    token_form: ApiTokenForm | None = None,
    password_form: NewPasswordForm | None = None,
    new_token: str = "",
) -> HttpResponse:
    context = {
        "tokens": request.user.api_tokens.all(),
        "new_token": new_token,
        "token_form": token_form or ApiTokenForm(),
        "password_form": password_form or NewPasswordForm(request.user),
    }
    refused = token_form is not None or password_form is not None
    return render(request, "registration/account.html", context, status=422 if refused else 200)
