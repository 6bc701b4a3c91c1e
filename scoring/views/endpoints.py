"""The pages of a project's endpoints: all of them, and one with its key, its limits and its models.

A key is taken and never given back: no view reads one, and a form that is shown again leaves it out.
"""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.context import open_project
from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, permissions_of
from annotation.signed_in import SignedInRequest
from scoring.endpoints.keys import remove_key, set_key
from scoring.endpoints.managing import (
    TakenName,
    add_endpoint,
    add_model,
    change_limits,
    remove_endpoint,
    remove_model,
    set_prices,
)
from scoring.endpoints.remembered import ask_for_check
from scoring.forms.endpoint_forms import EndpointForm, KeyForm, LimitsForm, ModelForm, PricesForm
from scoring.models import Endpoint, EndpointModel
from scoring.presence import is_served


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def endpoints(request: SignedInRequest, slug: str) -> HttpResponse:
    """The list; a manager adds to it."""
    posted = request.method == "POST"
    project = open_project(request, slug, Permission.MANAGE_PROJECT if posted else Permission.MANAGE_RUNS)
    form = EndpointForm(request.POST if posted else None)
    if form.is_valid():
        try:
            added = add_endpoint(project, form.cleaned_data["base_url"], request.user)
        except DomainError as refused:
            form.add_error("base_url", str(refused))
        else:
            messages.success(request, f"{added} is in the list. Name its models to say what they cost.")
            if form.cleaned_data["key"]:
                try:
                    set_key(added, form.cleaned_data["key"], request.user)
                except DomainError as refused:
                    messages.error(request, f"The key is not kept. {refused}")
            return redirect("endpoint", slug, added.pk)
    context = {"form": form, "endpoints": _of(project), "may_edit": _may_edit(request, project)}
    return render(request, "scoring/endpoints.html", context, status=422 if form.errors else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD"])
def endpoint(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    return _page(request, project, one_of(_of(project), endpoint_id, "endpoint"))


@login_required
@require_POST
def endpoint_key(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    project, found = _to_edit(request, slug, endpoint_id)
    form = KeyForm(request.POST)
    if form.is_valid():
        try:
            set_key(found, form.cleaned_data["key"], request.user)
        except DomainError as refused:
            form.add_error("key", str(refused))
        else:
            messages.success(
                request, "The key is kept, encrypted. Workers use it from their next requests on."
            )
            return redirect("endpoint", slug, endpoint_id)
    return _page(request, project, found, key_form=form)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_key_remove(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """Asks first."""
    _, found = _to_edit(request, slug, endpoint_id)
    if request.method == "POST":
        remove_key(found, request.user)
        messages.success(request, "The key is removed. Workers take one from their environment.")
        return redirect("endpoint", slug, endpoint_id)
    return render(request, "scoring/endpoint_key_remove.html", {"endpoint": found})


@login_required
@require_POST
def endpoint_limits(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    project, found = _to_edit(request, slug, endpoint_id)
    form = LimitsForm(found, request.POST)
    if not form.is_valid():
        return _page(request, project, found, limits_form=form)
    change_limits(found, request.user, **form.cleaned_data)
    messages.success(request, "The limits are kept.")
    return redirect("endpoint", slug, endpoint_id)


@login_required
@require_POST
def endpoint_prices(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """The prices of all its models at once; nothing is kept if one is wrong."""
    project, found = _to_edit(request, slug, endpoint_id)
    forms = [PricesForm(model, request.POST) for model in found.models.all()]
    wrong = [form for form in forms if not form.is_valid()]
    if wrong:
        return _page(request, project, found, prices_forms=forms)
    for form in forms:
        set_prices(form.model, form.prices, request.user)
    messages.success(request, "The prices are kept. They count for requests from now on.")
    return redirect("endpoint", slug, endpoint_id)


@login_required
@require_POST
def endpoint_model_new(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    project, found = _to_edit(request, slug, endpoint_id)
    form = ModelForm(request.POST)
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            add_model(found, chosen["name"], chosen["api"], request.user, form.prices)
        except TakenName as refused:
            form.add_error("name", str(refused))
        else:
            messages.success(request, f"{chosen['name']} is in the list.")
            return redirect("endpoint", slug, endpoint_id)
    return _page(request, project, found, model_form=form)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_model_remove(
    request: SignedInRequest, slug: str, endpoint_id: int, model_id: int
) -> HttpResponse:
    """Asks first."""
    _, found = _to_edit(request, slug, endpoint_id)
    model = one_of(found.models.all(), model_id, "model")
    if request.method == "POST":
        remove_model(model, request.user)
        messages.success(request, f"{model.name} is no longer in the list.")
        return redirect("endpoint", slug, endpoint_id)
    return render(request, "scoring/endpoint_model_remove.html", {"endpoint": found, "model": model})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_model_check(
    request: SignedInRequest, slug: str, endpoint_id: int, model_id: int
) -> HttpResponse:
    """What is known of the model: a part of the page, which asks for it again while a worker is at it."""
    posted = request.method == "POST"
    project = open_project(request, slug, Permission.MANAGE_PROJECT if posted else Permission.MANAGE_RUNS)
    model = one_of(one_of(_of(project), endpoint_id, "endpoint").models.all(), model_id, "model")
    if posted:
        ask_for_check(model, request.user)
        if not request.htmx:
            messages.success(
                request, "A worker is asked. Load the page again in a moment to see what it found."
            )
            return redirect("endpoint", slug, endpoint_id)
    context = {"model": model, "may_edit": _may_edit(request, project), "llm_is_served": is_served("llm")}
    return render(request, "scoring/_abilities.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_remove(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """Asks first."""
    _, found = _to_edit(request, slug, endpoint_id)
    if request.method == "POST":
        remove_endpoint(found, request.user)
        messages.success(request, f"{found} is no longer in the list.")
        return redirect("endpoints", slug)
    return render(request, "scoring/endpoint_remove.html", {"endpoint": found})


def _page(request: SignedInRequest, project: Project, found: Endpoint, **forms: Any) -> HttpResponse:
    """One endpoint's page; with a form that was sent and is wrong, as `forms` has it by name."""
    context = {
        "endpoint": found,
        "may_edit": _may_edit(request, project),
        "llm_is_served": is_served("llm"),
        "key_form": KeyForm(),
        "limits_form": LimitsForm(found),
        "prices_forms": [PricesForm(model) for model in found.models.all()],
        "model_form": ModelForm(),
        **forms,
    }
    return render(request, "scoring/endpoint.html", context, status=422 if forms else 200)


def _of(project: Project) -> QuerySet[Endpoint]:
    models = Prefetch("models", EndpointModel.objects.order_by("name", "api"))
    return Endpoint.objects.filter(project=project).prefetch_related(models)


def _to_edit(request: SignedInRequest, slug: str, endpoint_id: int) -> tuple[Project, Endpoint]:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    return project, one_of(_of(project), endpoint_id, "endpoint")


def _may_edit(request: SignedInRequest, project: Project) -> bool:
    return Permission.MANAGE_PROJECT in permissions_of(request.user, project)
