"""The pages of two-factor authentication, and the steps of signing in with a password."""

from typing import Any

import segno
from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_otp.plugins.otp_totp.models import default_key

from annotation.errors import DomainError, InvalidFields, NotAllowed
from annotation.people.own_sessions import end_other_sessions
from annotation.people.two_factor import (
    await_code,
    awaited_user,
    has_two_factor,
    key_in_words,
    new_app,
    recovery_codes_left,
    renew_recovery_codes,
    stop_awaiting,
    turn_off,
    turn_on,
    use_code,
)
from annotation.people.two_factor_middleware import is_held_up, opens_before_set_up
from annotation.web.request_types import SignedInRequest

TOO_LATE = gettext_noop("The time for the code is over. Start again with your password.")


class OwnPasswordForm(forms.Form):
    """The password of whoever is signed in, for what a stranger at an open browser must not do."""

    current_password = forms.CharField(
        label=gettext_lazy("Current password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        strip=False,
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if not self.user.check_password(password):
            raise forms.ValidationError(gettext("This is not your password. Enter it again."))
        return password


class TwoFactorForm(OwnPasswordForm):
    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=20,
        help_text=gettext_lazy("The six digits that your app shows."),
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "one-time-code"}),
    )
    field_order = ("code", "current_password")


class SignInCodeForm(forms.Form):
    """The second step of signing in. It uses the code up."""

    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=40,
        help_text=gettext_lazy("The six digits that your app shows, or a recovery code."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = awaited_user(request.session)

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        if self.user is None:
            raise forms.ValidationError(gettext(TOO_LATE))
        try:
            use_code(self.user, code)
        except DomainError as refusal:
            raise forms.ValidationError(str(refusal)) from refusal
        return code

    def get_user(self) -> User | None:
        return self.user


NEW_KEY = "new_two_factor_key"  # key of a session's data, until a code has confirmed it


class PasswordView(LoginView):
    """The first step. It signs in whoever has no second one."""

    def form_valid(self, form: "AuthenticationForm") -> HttpResponse:
        user = form.get_user()
        if not isinstance(user, User) or not has_two_factor(user):
            return super().form_valid(form)
        await_code(self.request.session, user)
        return redirect_to_login(self.get_success_url(), reverse("sign_in_code"))


@method_decorator(login_not_required, name="dispatch")
class CodeView(LoginView):
    """The second step. Until it is done, the session is nobody's."""

    template_name = "registration/sign_in_code.html"
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated and awaited_user(request.session) is None:
            messages.error(request, gettext(TOO_LATE))
            return redirect_to_login(self.get_success_url())
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: "AuthenticationForm") -> HttpResponse:
        stop_awaiting(self.request.session)
        login(self.request, form.get_user(), backend="django.contrib.auth.backends.ModelBackend")
        return HttpResponseRedirect(self.get_success_url())


sign_in_code = CodeView.as_view(authentication_form=SignInCodeForm)


@login_not_required
@require_safe
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Lead from /admin/ to the sign-in page, which also asks for codes."""
    if request.user.is_authenticated and not request.user.is_staff:
        raise NotAllowed(
            gettext("Only administrators may open this page. Sign out, then sign in as one of them.")
        )
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


@opens_before_set_up
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def two_factor(request: SignedInRequest) -> HttpResponse:
    """Show what there is to manage; without two-factor authentication, set it up."""
    if has_two_factor(request.user):
        return _management_page(request, OwnPasswordForm(request.user))
    key = request.session.setdefault(NEW_KEY, default_key())
    form = TwoFactorForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            with transaction.atomic():
                codes = turn_on(request.user, key, form.cleaned_data["code"])
                end_other_sessions(request.user, request.session.session_key)
        except InvalidFields as refusal:
            form.add_error("code", refusal.fields["code"])
        else:
            del request.session[NEW_KEY]
            return _codes_page(request, codes, gettext("Two-factor authentication is on."))
    app = new_app(request.user, key)
    drawing = segno.make(app.config_url).svg_inline(scale=4, light="#fff")
    context = {
        "form": form,
        "is_held_up": is_held_up(request),
        "link": app.config_url,
        "drawing": mark_safe(drawing),  # noqa: S308 - paths only, no text
        "key": key_in_words(app),
    }
    return render(request, "registration/two_factor_set_up.html", context, status=422 if form.errors else 200)


@sensitive_post_parameters()
@require_POST
def recovery_codes_new(request: SignedInRequest) -> HttpResponse:
    form = OwnPasswordForm(request.user, request.POST)
    if not form.is_valid():
        return _management_page(request, form)
    codes = renew_recovery_codes(request.user)
    return _codes_page(request, codes, gettext("Your old recovery codes no longer work."))


@sensitive_post_parameters()
@require_POST
def two_factor_off(request: SignedInRequest) -> HttpResponse:
    form = OwnPasswordForm(request.user, request.POST)
    if not form.is_valid():
        return _management_page(request, form)
    turn_off(request.user)
    messages.success(request, gettext("Two-factor authentication is off. Your password alone signs you in."))
    return redirect("account")


def _management_page(request: SignedInRequest, form: OwnPasswordForm) -> HttpResponse:
    context = {"form": form, "codes_left": recovery_codes_left(request.user)}
    return render(request, "registration/two_factor.html", context, status=422 if form.errors else 200)


def _codes_page(request: SignedInRequest, codes: list[str], effect: str) -> HttpResponse:
    """Show recovery codes. They are not stored, so a redirect could not show them."""
    return render(request, "registration/recovery_codes.html", {"codes": codes, "effect": effect})
