"""Pages of the project's summaries, with filters, and of one summary."""

from collections.abc import Mapping

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Project
from annotation.permissions import Permission
from annotation.summaries.find_summaries import (
    LONGEST_SEARCH,
    Shown,
    find_summaries,
    flags_of,
    rating_counts,
    ratings_of,
    references_of,
    skips_of,
    summary_in,
)
from annotation.summaries.summary_trail import SummaryTrail
from annotation.summaries.withdrawing import restore_summary, withdraw_summary
from annotation.templatetags.texts import language_name
from annotation.web.form_choices import article_languages, offer
from annotation.web.ids_first import IdsFirstPaginator
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


class SummaryFilterForm(forms.Form):
    shown = forms.ChoiceField(label="Show", required=False, choices=Shown.choices)
    language = forms.ChoiceField(required=False)
    system = forms.ChoiceField(required=False)
    text = forms.CharField(
        label="Text",
        required=False,
        max_length=LONGEST_SEARCH,
        widget=forms.TextInput(attrs={"type": "search"}),
        help_text="Searches summaries and titles.",
    )

    def __init__(self, project: Project, data: Mapping[str, str]) -> None:
        super().__init__(data, auto_id="filter_%s", label_suffix="")
        languages = ((code, f"{language_name(code)} ({code})") for code in article_languages(project))
        offer(self, "language", [("", "all"), *languages])
        systems = project.systems.values_list("name", flat=True)
        offer(self, "system", [("", "all"), *((name, name) for name in systems)])

    def filters(self) -> dict[str, str]:
        """Return the filters of `find_summaries`. A field with an invalid value admits all summaries."""
        self.is_valid()
        return self.cleaned_data


SUMMARIES_ON_A_PAGE = 25


@require_safe
def summaries(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    form = SummaryFilterForm(project, request.GET)
    found = find_summaries(project, **form.filters())
    page = IdsFirstPaginator(found, SUMMARIES_ON_A_PAGE).get_page(request.GET.get("page"))
    listed = list(page)
    counts = rating_counts(listed)
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "form": form,
        "page": page,
        "rows": [(summary, counts.get(summary.pk, 0)) for summary in listed],
        "query": kept.urlencode(),
        "trail": SummaryTrail.of([summary.pk for summary in listed], request.get_full_path()),
        "filtered": any(request.GET.get(name) for name in form.fields),
        "manages": Permission.MANAGE_PROJECT in project.reader_may,
    }
    return render(request, "annotation/summaries/summaries.html", context)


@require_safe
def summary(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = summary_in(project, summary_id)
    gold = getattr(found, "gold", None)
    trail = SummaryTrail.read(request.GET, slug)
    context = {
        "summary": found,
        "trail": trail,
        "position": trail.position(found.pk),
        "gold": gold,
        "gold_answers": gold.answers.select_related("question") if gold else (),
        "references": references_of(found),
        "questions": project.questionnaire.protocol.questions,
        "rows": ratings_of(found),
        "flags": flags_of(found),
        "skips": skips_of(found),
        "manages": Permission.MANAGE_PROJECT in project.reader_may,
        "sees_names": Permission.MANAGE_PEOPLE in project.reader_may,
    }
    return render(request, "annotation/summaries/summary.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def summary_withdraw(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    if request.method == "POST":
        withdraw_summary(project, request.user, summary_id)
        messages.success(request, "Summary withdrawn. You can restore it at any time.")
        return redirect("summary", slug, summary_id)
    found = summary_in(project, summary_id)
    leases = found.assignments.held().filter(round__isnull=True)
    context = {
        "summary": found,
        "ratings": rating_counts([found]).get(found.pk, 0),
        "leases": leases.count(),
    }
    return render(request, "annotation/summaries/withdraw.html", context)


@require_POST
def summary_restore(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    restore_summary(project, request.user, summary_id)
    messages.success(request, "Summary restored. Raters get it again if it needs ratings.")
    return redirect("summary", slug, summary_id)
