"""Entering the demo without a password."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotation.demo.accounts import demo_user


@login_not_required
@require_POST
def demo_enter(request: HttpRequest) -> HttpResponse:
    """Sign in to a demo account."""
    user = demo_user(request, request.POST.get("username", ""))
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")
