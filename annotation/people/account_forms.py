"""Forms for signing in, new accounts, passwords and API tokens."""

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    SetPasswordForm,
    UserCreationForm,
)
from django.contrib.auth.models import User
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext

from annotation.models import ApiToken
from annotation.people.api_tokens import LIFETIMES, USUAL_LIFETIME, projects_of_tokens

PASSWORD_HELP = gettext_lazy(
    "At least 10 characters, not only digits, not common and not similar to your username."
)
REPEAT_HELP = gettext_lazy("Enter the same password again.")
WRONG_PROJECT = {
    ApiToken.Scope.READ: gettext_noop("You may not read in this project. Choose another one."),
    ApiToken.Scope.RATE: gettext_noop("You may not rate in this project. Choose another one."),
    ApiToken.Scope.MANAGE: gettext_noop("You may not manage in this project. Choose another one."),
}


def _lifetimes() -> list[tuple[int, str]]:
    return [(days, ngettext("%(n)s day", "%(n)s days", days) % {"n": days}) for days in LIFETIMES]


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": gettext_lazy(
            "Wrong username or password. Check both; passwords are case-sensitive. "
            "If you forgot your password, get a password link."
        ),
        "inactive": gettext_lazy("This account is closed. Ask your administrator."),
    }


class NewAccountForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("username", "email")
        labels = {"email": gettext_lazy("E-mail")}
        help_texts = {
            "username": gettext_lazy("You sign in with this name. Other raters never see it."),
            "email": gettext_lazy("Optional. Only managers see it."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = PASSWORD_HELP
        self.fields["password2"].help_text = REPEAT_HELP


class NewPasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].help_text = REPEAT_HELP
        del self.fields["old_password"].widget.attrs["autofocus"]  # the form is below the tokens


class ResetPasswordForm(SetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].help_text = REPEAT_HELP


class ForgottenPasswordForm(forms.Form):
    name_or_email = forms.CharField(label=gettext_lazy("Username or e-mail"), max_length=254)

    def __init__(self, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")


class EmailForm(forms.ModelForm):
    """The address to which password links are sent; so it changes with the password only."""

    current_password = forms.CharField(
        label=gettext_lazy("Current password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        strip=False,
    )

    class Meta:
        model = User
        fields = ("email",)
        labels = {"email": gettext_lazy("E-mail")}
        help_texts = {"email": gettext_lazy("Needed to reset a forgotten password. Only managers see it.")}

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if not self.instance.check_password(password):
            raise forms.ValidationError(gettext("This is not your password. Enter it again."))
        return password


class ApiTokenForm(forms.ModelForm):
    days = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"),
        choices=_lifetimes,
        initial=USUAL_LIFETIME,
        coerce=int,
    )

    class Meta:
        model = ApiToken
        fields = ("label", "scope", "project")
        labels = {
            "label": gettext_lazy("Purpose"),
            "scope": gettext_lazy("It may"),
            "project": gettext_lazy("Project"),
        }
        widgets = {"scope": forms.RadioSelect}
        help_texts = {
            "label": gettext_lazy("For example “notebook on my laptop”. It tells your tokens apart."),
            "scope": gettext_lazy(
                "A token that rates gets your summaries and sends your answers, and reads nothing else."
            ),
            "project": gettext_lazy("A token for one project opens no other."),
        }

    def __init__(self, user: User, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, auto_id="token_%s", label_suffix="")
        project = cast(forms.ModelChoiceField, self.fields["project"])
        reads, rates, manages = (projects_of_tokens(user, scope) for scope in ApiToken.Scope)
        project.queryset = reads | rates | manages
        if rates.exists() and not reads.exists():
            self.initial["scope"] = ApiToken.Scope.RATE
        project.empty_label = gettext("All your projects")
        self.user = user

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        project, scope = cleaned.get("project"), cleaned.get("scope")
        if project and scope and project not in projects_of_tokens(self.user, scope):
            self.add_error("project", gettext(WRONG_PROJECT[scope]))
        return cleaned
