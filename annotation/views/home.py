"""The first page: one's projects, or what to do on a platform that has nobody yet."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.my_projects import my_projects
from annotation.permissions import may_create_project


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if isinstance(request.user, User):
        context = {"parts": my_projects(request.user), "may_create": may_create_project(request.user)}
        return render(request, "annotation/home.html", context)
    if not User.objects.exists():
        return render(request, "annotation/first_run.html")
    return redirect("sign_in")
