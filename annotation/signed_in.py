"""For type checkers: the request of a view behind `login_required`."""

from django.contrib.auth.models import User
from django.http import HttpRequest


class SignedInRequest(HttpRequest):
    user: User
