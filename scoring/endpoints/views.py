"""The pages of a project's endpoints. No view reads a key, and no form shows one again."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from scoring.endpoints.endpoint_admin import (
    APIS,
    Prices,
    TakenName,
    add_endpoint,
    add_model,
    change_limits,
    remove_endpoint,
    remove_model,
    set_prices,
)
from scoring.endpoints.keys import LONGEST_KEY, remove_key, set_key
from scoring.endpoints.known_models import request_check
from scoring.models import Endpoint, EndpointModel
from scoring.workers.presence import is_served

PRICES_FORM = "prices"
"""Id of the page's form that submits the prices of all models."""


class KeyField(forms.CharField):
    """A key. No page ever shows it again, even after an error."""

    widget = forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}, render_value=False)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_KEY, **options)


class PriceField(forms.DecimalField):
    """US dollars per million tokens."""

    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, min_value=Decimal(0), max_digits=12, decimal_places=6, **options)

    def prepare_value(self, value: Any) -> Any:
        """Drop the trailing zeros that the database keeps."""
        return f"{value.normalize():f}" if isinstance(value, Decimal) else value


class EndpointForm(forms.Form):
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "https://api.openai.com/v1", "spellcheck": "false"}),
        help_text="The base address, without /chat/completions.",
    )
    key = KeyField(
        required=False,
        help_text="Stored encrypted, never shown again. Empty: workers use their environment.",
    )


class KeyForm(forms.Form):
    key = KeyField(label="New key", help_text="Stored encrypted and never shown again.")


class LimitsForm(forms.Form):
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10**6,
        help_text="The endpoint's limit for all workers together. Empty: no limit.",
    )
    tokens_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10**9,
        help_text="Prompts and replies together. Empty: no limit.",
    )
    most_in_flight = forms.IntegerField(
        label="Concurrent requests",
        min_value=1,
        max_value=1000,
        help_text="The most requests that one worker sends at a time.",
    )

    def __init__(self, endpoint: Endpoint, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data)
        self.initial = {name: getattr(endpoint, name) for name in self.fields}


class _WithPrices(forms.Form):
    input_price = PriceField(label="Prompt, $ per million tokens")
    output_price = PriceField(label="Reply, $ per million tokens")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        given = [cleaned.get("input_price"), cleaned.get("output_price")]
        if not self.errors and given.count(None) == 1:
            lacking = "input_price" if given[0] is None else "output_price"
            self.add_error(lacking, "Enter both prices or neither. Enter 0 if it is free.")
        return cleaned

    @property
    def prices(self) -> Prices | None:
        one, two = self.cleaned_data["input_price"], self.cleaned_data["output_price"]
        return None if one is None or two is None else (one, two)


class PricesForm(_WithPrices):
    """The prices of one model of an endpoint."""

    def __init__(self, model: EndpointModel, data: Mapping[str, str] | None = None) -> None:
        prices = {"input_price": model.input_price, "output_price": model.output_price}
        super().__init__(data, initial=prices, prefix=f"model-{model.pk}")
        self.model = model
        for name, label in (("input_price", "Prompt, $"), ("output_price", "Reply, $")):
            self.fields[name].label = label
            self.fields[name].widget.attrs["form"] = PRICES_FORM


class ModelForm(_WithPrices):
    name = forms.CharField(max_length=200, label="Model", help_text="The endpoint's name for it.")
    api = forms.ChoiceField(choices=[(api, capfirst(api)) for api in APIS], label="API")
    field_order = ("name", "api", "input_price", "output_price")
    prefix = "new"


@require_http_methods(["GET", "HEAD", "POST"])
def endpoints(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the endpoints; add one."""
    posted = request.method == "POST"
    project = open_project(request, slug, Permission.MANAGE_PROJECT if posted else Permission.MANAGE_RUNS)
    form = EndpointForm(request.POST if posted else None)
    if form.is_valid():
        try:
            added = add_endpoint(project, form.cleaned_data["base_url"], request.user)
        except DomainError as refused:
            form.add_error("base_url", str(refused))
        else:
            messages.success(request, f"Endpoint {added} added. Add its models to set their prices.")
            if form.cleaned_data["key"]:
                try:
                    set_key(added, form.cleaned_data["key"], request.user)
                except DomainError as refused:
                    messages.error(request, f"Key not saved. {refused}")
            return redirect("endpoint", slug, added.pk)
    context = {
        "form": form,
        "endpoints": _of(project),
        "may_edit": Permission.MANAGE_PROJECT in project.reader_may,
    }
    return render(request, "scoring/endpoints/endpoints.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD"])
def endpoint(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    return _page(request, project, one_of(_of(project), endpoint_id, "endpoint"))


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
            messages.success(request, "Key saved. Workers use it for new requests.")
            return redirect("endpoint", slug, endpoint_id)
    return _page(request, project, found, key_form=form)


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_key_remove(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """Ask for confirmation, then delete."""
    _, found = _to_edit(request, slug, endpoint_id)
    if request.method == "POST":
        remove_key(found, request.user)
        messages.success(request, "Key deleted. Workers read one from their environment.")
        return redirect("endpoint", slug, endpoint_id)
    return render(request, "scoring/endpoints/key_remove.html", {"endpoint": found})


@require_POST
def endpoint_limits(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    project, found = _to_edit(request, slug, endpoint_id)
    form = LimitsForm(found, request.POST)
    if not form.is_valid():
        return _page(request, project, found, limits_form=form)
    change_limits(found, request.user, **form.cleaned_data)
    messages.success(request, "Limits saved.")
    return redirect("endpoint", slug, endpoint_id)


@require_POST
def endpoint_prices(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """Save the prices of all its models; if one is invalid, save none."""
    project, found = _to_edit(request, slug, endpoint_id)
    forms = [PricesForm(model, request.POST) for model in found.models.all()]
    wrong = [form for form in forms if not form.is_valid()]
    if wrong:
        return _page(request, project, found, prices_forms=forms)
    for form in forms:
        set_prices(form.model, form.prices, request.user)
    messages.success(request, "Prices saved. They apply to new requests.")
    return redirect("endpoint", slug, endpoint_id)


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
            messages.success(request, f"Model {chosen['name']} added.")
            return redirect("endpoint", slug, endpoint_id)
    return _page(request, project, found, model_form=form)


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_model_remove(
    request: SignedInRequest, slug: str, endpoint_id: int, model_id: int
) -> HttpResponse:
    """Ask for confirmation, then delete."""
    _, found = _to_edit(request, slug, endpoint_id)
    model = one_of(found.models.all(), model_id, "model")
    if request.method == "POST":
        remove_model(model, request.user)
        messages.success(request, f"Model {model.name} deleted.")
        return redirect("endpoint", slug, endpoint_id)
    return render(request, "scoring/endpoints/model_remove.html", {"endpoint": found, "model": model})


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_model_check(
    request: SignedInRequest, slug: str, endpoint_id: int, model_id: int
) -> HttpResponse:
    """Show the model's capabilities; POST requests a test. The fragment polls while one runs."""
    posted = request.method == "POST"
    project = open_project(request, slug, Permission.MANAGE_PROJECT if posted else Permission.MANAGE_RUNS)
    model = one_of(one_of(_of(project), endpoint_id, "endpoint").models.all(), model_id, "model")
    if posted:
        request_check(model, request.user)
        if not request.htmx:
            messages.success(request, "Test started. Reload the page in a moment to see the result.")
            return redirect("endpoint", slug, endpoint_id)
    context = {
        "model": model,
        "may_edit": Permission.MANAGE_PROJECT in project.reader_may,
        "llm_is_served": is_served("llm"),
    }
    return render(request, "scoring/endpoints/_capabilities.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_remove(request: SignedInRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """Ask for confirmation, then delete."""
    _, found = _to_edit(request, slug, endpoint_id)
    if request.method == "POST":
        remove_endpoint(found, request.user)
        messages.success(request, f"Endpoint {found} deleted.")
        return redirect("endpoints", slug)
    return render(request, "scoring/endpoints/remove.html", {"endpoint": found})


def _page(request: SignedInRequest, project: Project, found: Endpoint, **forms: Any) -> HttpResponse:
    """Render an endpoint's page, with invalid submitted forms by name in `forms`."""
    context = {
        "endpoint": found,
        "may_edit": Permission.MANAGE_PROJECT in project.reader_may,
        "llm_is_served": is_served("llm"),
        "key_form": KeyForm(),
        "limits_form": LimitsForm(found),
        "prices_forms": [PricesForm(model) for model in found.models.all()],
        "model_form": ModelForm(),
        **forms,
    }
    return render(request, "scoring/endpoints/endpoint.html", context, status=422 if forms else 200)


def _of(project: Project) -> QuerySet[Endpoint]:
    models = Prefetch("models", EndpointModel.objects.order_by("name", "api"))
    return Endpoint.objects.filter(project=project).prefetch_related(models)


def _to_edit(request: SignedInRequest, slug: str, endpoint_id: int) -> tuple[Project, Endpoint]:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    return project, one_of(_of(project), endpoint_id, "endpoint")
