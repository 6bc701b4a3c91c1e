"""Choosing a new password by link, and asking for a link."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.people.account_forms import ForgottenPasswordForm, ResetPasswordForm
from annotation.people.mail import send, sends_mail
from annotation.people.passwords import finish_reset, password_link_for, password_mails
from annotation.people.sign_in_limits import remember_browser
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


class NewPasswordView(PasswordResetConfirmView):
    """The page behind a password link. Django checks the link and keeps it out of the page's address."""

    template_name = "registration/password_reset.html"
    form_class = ResetPasswordForm
    success_url = reverse_lazy("sign_in")

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            finish_reset(form.user)
        remember_browser(self.request, form.user)
        messages.success(self.request, gettext("Password changed. Sign in with it."))
        return response


password_reset = require_http_methods(["GET", "HEAD", "POST"])(NewPasswordView.as_view())


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def password_forgotten(request: HttpRequest) -> HttpResponse:
    """Mail a link, with the same answer whether there is such an account."""
    form = ForgottenPasswordForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and sends_mail():
        site = request.build_absolute_uri("/").rstrip("/")
        send(password_mails(form.cleaned_data["name_or_email"], site))
        messages.success(request, gettext("If the account has an e-mail address, a link is on its way."))
        return redirect("sign_in")
    context = {"form": form, "sends_mail": sends_mail()}
    return render(
        request, "registration/password_forgotten.html", context, status=422 if form.errors else 200
    )


@require_POST
def password_link(request: SignedInRequest, slug: str, user_id: int) -> HttpResponse:
    """Show a link for one person of the project, once."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    user, path = password_link_for(request.user, project, user_id)
    context = {"person": user, "link": request.build_absolute_uri(path)}
    return render(request, "annotation/people/password_link.html", context)
