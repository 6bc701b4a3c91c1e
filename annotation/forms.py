"""Forms of the way in. The answers of a stage are read by `annotation.answer_sheet`."""

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UserCreationForm
from django.contrib.auth.models import User

from annotation.models import ApiToken


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": (
            "This user name and password do not belong together. Check both; capitals matter. "
            "If you forgot the password, ask your project's manager for a new invitation."
        ),
        "inactive": "This account is closed. Ask your project's manager.",
    }


class NewAccountForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("username",)
        labels = {"username": "User name"}
        help_texts = {"username": "You sign in with it. Other raters never see it."}


class ApiTokenForm(forms.ModelForm):
    class Meta:
        model = ApiToken
        fields = ("label",)
        labels = {"label": "What is it for?"}
        help_texts = {"label": "For example “notebook on my laptop”, so that you know which one to delete."}
