"""Forms for setting up two-factor authentication and for the codes at sign-in."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest

from annotation.errors import DomainError
from annotation.people.two_factor import awaited_user, use_code


class OwnPasswordForm(forms.Form):
    """The password of whoever is signed in, for what a stranger at an open browser must not do."""

    current_password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}), strip=False
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if not self.user.check_password(password):
            raise forms.ValidationError("This is not your password. Enter it again.")
        return password


class TwoFactorForm(OwnPasswordForm):
    code = forms.CharField(
        max_length=20,
        help_text="The six digits that your app shows.",
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "one-time-code"}),
    )
    field_order = ("code", "current_password")


class SignInCodeForm(forms.Form):
    """The second step of signing in. It uses the code up."""

    code = forms.CharField(
        max_length=40,
        help_text="The six digits that your app shows, or a recovery code.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = awaited_user(request.session)

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        if self.user is None:
            raise forms.ValidationError("The time for the code is over. Start again with your password.")
        try:
            use_code(self.user, code)
        except DomainError as refusal:
            raise forms.ValidationError(str(refusal)) from refusal
        return code

    def get_user(self) -> User | None:
        return self.user
