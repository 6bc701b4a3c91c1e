"""The pages of a project's webhooks, for managers. A secret is shown once, right after it was made."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import DomainError, InvalidFields
from annotation.lookups import one_of
from annotation.models import Event
from annotation.permissions import Permission
from annotation.web.form_refusals import add_field_refusals
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from scoring.models import WebhookDelivery
from scoring.webhooks.managing import (
    KINDS,
    LONGEST_ADDRESS,
    SHOWN_DELIVERIES,
    add_webhook,
    delete_webhook,
    latest_deliveries,
    send_again,
    send_test,
    webhook_of,
    webhooks_with_figures,
)


class WebhookForm(forms.Form):
    address = forms.CharField(
        max_length=LONGEST_ADDRESS,
        widget=forms.TextInput(
            attrs={"placeholder": "https://lab.example.org/touchstone/", "spellcheck": "false"}
        ),
        help_text="Touchstone sends each event there as JSON.",
    )
    events = forms.MultipleChoiceField(
        choices=[(kind.value, kind.label) for kind in KINDS],
        widget=forms.CheckboxSelectMultiple,
        initial=[kind.value for kind in KINDS],
    )


@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: SignedInRequest, slug: str) -> HttpResponse:
    """List webhooks, and add one. Its secret is not stored in plain text, so a redirect could not show it."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    form, added, secret = WebhookForm(label_suffix=""), None, ""
    if request.method == "POST":
        form = WebhookForm(request.POST, label_suffix="")
        if form.is_valid():
            try:
                added, secret = add_webhook(
                    project, request.user, form.cleaned_data["address"], form.cleaned_data["events"]
                )
                form = WebhookForm(label_suffix="")
            except InvalidFields as refused:
                add_field_refusals(form, refused.fields)
            except DomainError as refused:
                form.add_error("address", str(refused))
    context = {
        "webhooks": [(each, _titles(each.kinds)) for each in webhooks_with_figures(project)],
        "form": form,
        "added": added,
        "secret": secret,
    }
    return render(request, "scoring/webhooks/webhooks.html", context, status=422 if form.errors else 200)


@require_safe
def webhook(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    found = webhook_of(project, webhook_id)
    context = {
        "webhook": found,
        "titles": _titles(found.kinds),
        "deliveries": latest_deliveries(found)[:SHOWN_DELIVERIES],
        "shown": SHOWN_DELIVERIES,
    }
    return render(request, "scoring/webhooks/webhook.html", context)


@require_POST
def webhook_test(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    send_test(webhook_of(project, webhook_id), request.user)
    messages.success(request, "A worker sends the test now. Reload the page in a moment to see the result.")
    return redirect("webhook", slug, webhook_id)


@require_POST
def webhook_send_again(
    request: SignedInRequest, slug: str, webhook_id: int, delivery_id: int
) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    rows = WebhookDelivery.objects.select_related("webhook__project")
    delivery = one_of(rows.filter(webhook=webhook_of(project, webhook_id)), delivery_id, "delivery")
    send_again(delivery, request.user)
    messages.success(request, "A worker sends it again now. Reload the page in a moment to see the result.")
    return redirect("webhook", slug, webhook_id)


@require_http_methods(["GET", "HEAD", "POST"])
def webhook_delete(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Ask for confirmation, then delete."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    found = webhook_of(project, webhook_id)
    if request.method == "POST":
        delete_webhook(found, request.user)
        messages.success(request, f"Webhook {found} deleted.")
        return redirect("webhooks", slug)
    return render(request, "scoring/webhooks/delete.html", {"webhook": found})


def _titles(kinds: list[str]) -> list[str]:
    return [Event.Kind(kind).label for kind in kinds]
