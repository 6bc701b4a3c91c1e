"""Pages of messages: a rater's own, a manager's with one rater, and a message to all raters."""

from collections.abc import Callable, Mapping

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation.correspondence.messages import (
    LONGEST_MESSAGE,
    active_raters,
    correspondence_with,
    mark_read,
    own_correspondence,
    read_text,
    reason_unreachable,
    write_to_managers,
    write_to_rater,
    write_to_raters,
)
from annotation.errors import InvalidFields
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission
from annotation.templatetags.figures import noun
from annotation.templatetags.texts import language_name
from annotation.web.form_choices import offer
from annotation.web.navigation import open_as_rater, open_project
from annotation.web.request_types import SignedInRequest

MESSAGES_ON_A_PAGE = 20


class MessageForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("Message"),
        error_messages={"required": gettext_lazy("Write a message first.")},
        widget=forms.Textarea(attrs={"rows": 4, "maxlength": LONGEST_MESSAGE, "dir": "auto"}),
    )

    def __init__(self, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")

    def clean_text(self) -> str:
        try:
            return read_text(self.cleaned_data["text"])
        except InvalidFields as refused:
            raise forms.ValidationError(refused.fields["text"]) from refused

    def is_written(self, write: Callable[[str], object]) -> bool:
        """Return whether `write` took the text. Its refusals become errors of the form."""
        if not self.is_valid():
            return False
        try:
            write(self.cleaned_data["text"])
        except InvalidFields as refused:
            for field, error in refused.fields.items():
                self.add_error(field, error)
        return not self.errors


class MessageToAllForm(MessageForm):
    """A message to all active raters, or to those of one language."""

    language = forms.ChoiceField(label="Raters", required=False)
    field_order = ("language", "text")

    def __init__(self, project: Project, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data)
        spoken = {language for rater in active_raters(project) for language in rater.languages}
        names = sorted((language_name(language), language) for language in spoken)
        every = ("", "All active raters")
        offer(self, "language", [every, *((language, f"Raters of {name}") for name, language in names)])


@require_http_methods(["GET", "HEAD", "POST"])
def own_messages(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a rater their correspondence. POST writes to the managers."""
    rater = open_as_rater(request, slug)
    form = MessageForm(request.POST if request.method == "POST" else None)
    if form.is_written(lambda text: write_to_managers(request.user, rater, text)):
        messages.success(request, gettext("Message sent to the managers."))
        return redirect("own_messages", slug)
    found = own_correspondence(request.user, rater)
    page = Paginator(found, MESSAGES_ON_A_PAGE).get_page(request.GET.get("page"))
    if request.method == "GET":
        mark_read(page, from_manager=True)
    context = {"page": page, "form": form}
    return render(
        request, "annotation/correspondence/own_messages.html", context, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
def rater_messages(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Show a manager the correspondence of one rater. POST writes to the rater."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    rater = one_of(project.raters.select_related("user", "project"), rater_id, "rater")
    form = MessageForm(request.POST if request.method == "POST" else None)
    if form.is_written(lambda text: write_to_rater(request.user, rater, text)):
        messages.success(request, f"Message sent to {rater}.")
        return redirect("rater_messages", slug, rater_id)
    found = correspondence_with(request.user, rater)
    page = Paginator(found, MESSAGES_ON_A_PAGE).get_page(request.GET.get("page"))
    if request.method == "GET":
        mark_read(page, from_manager=False)
    context = {"page": page, "form": form, "rater": rater, "unreachable": reason_unreachable(rater)}
    return render(
        request, "annotation/correspondence/rater_messages.html", context, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
def messages_to_all(request: SignedInRequest, slug: str) -> HttpResponse:
    """Write to all raters, once the manager has confirmed to how many."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    form = MessageToAllForm(project, request.POST if request.method == "POST" else None)
    readers = 0
    if form.is_valid() and "edit" not in request.POST:
        language = form.cleaned_data["language"]
        readers = len(active_raters(project, language))
        # A number that has changed since is asked again.
        if request.POST.get("confirmed") == str(readers) and form.is_written(
            lambda text: write_to_raters(request.user, project, text, language)
        ):
            messages.success(request, f"Message sent to {noun(readers, 'rater,raters')}.")
            return redirect("people", slug)
    context = {"form": form, "readers": readers, "can_write": bool(active_raters(project))}
    return render(
        request, "annotation/correspondence/messages_to_all.html", context, status=422 if form.errors else 200
    )
