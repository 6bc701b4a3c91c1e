"""Forms of the way in. The answers of a stage are read by `annotation.answer_sheet`."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, UserCreationForm
from django.contrib.auth.models import User

from annotation.models import ApiToken

PASSWORD_HELP = "At least 10 characters; not digits alone, not a common password, not like your username."
REPEAT_HELP = "The same once more, against typing errors."


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": (
            "This username and password do not belong together. Check both; capitals matter. "
            "If you forgot the password, ask who runs this server to set a new one."
        ),
        "inactive": "This account is closed. Ask who runs this server.",
    }


class NewAccountForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("username",)
        help_texts = {"username": "You sign in with it. Other raters never see it."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = PASSWORD_HELP
        self.fields["password2"].help_text = REPEAT_HELP


class NewPasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].help_text = REPEAT_HELP
        del self.fields["old_password"].widget.attrs["autofocus"]  # it stands below the tokens


class ApiTokenForm(forms.ModelForm):
    class Meta:
        model = ApiToken
        fields = ("label",)
        labels = {"label": "What is it for?"}
        help_texts = {"label": "For example “notebook on my laptop”, so that you know which one to delete."}
