"""For type checkers: the request of a view behind `login_required`."""

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class SignedInRequest(HttpRequest):
    user: User
    htmx: HtmxDetails
