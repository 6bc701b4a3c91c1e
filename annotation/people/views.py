"""Pages of a project's invitations, members and raters."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.audit.log import LONGEST_REASON
from annotation.errors import NotFound
from annotation.gold.coverage import gold_shortages
from annotation.gold.rounds import raters_waiting
from annotation.lookups import one_of
from annotation.models import Invitation, Project, Rater, Role
from annotation.people.invitation_list import InvalidList, read_invitees
from annotation.people.invitation_mail import mail_invitations
from annotation.people.invitations import Invitee, invite_all, revoke_invitation
from annotation.people.mail import sends_mail
from annotation.people.members import (
    effect_of_removal,
    reinstate_rater,
    remove_member,
    remove_rater,
    set_rater_languages,
    stop_rating,
    suspend_rater,
)
from annotation.people.passwords import link_refusals
from annotation.people.rater_list import rater_rows
from annotation.permissions import Permission, may_stop_rating
from annotation.templatetags.figures import noun
from annotation.templatetags.texts import language_name
from annotation.texts.language_codes import is_language_code
from annotation.web.form_choices import article_languages, offer
from annotation.web.navigation import open_as_rater, open_project
from annotation.web.request_types import SignedInRequest


class LanguagesForm(forms.Form):
    """Languages to choose: those of the project's articles, and others by their codes."""

    languages = forms.MultipleChoiceField(
        label="Languages", required=False, widget=forms.CheckboxSelectMultiple
    )
    other_languages = forms.CharField(
        label="Other languages",
        required=False,
        help_text="Codes separated by commas, such as de, pt-BR.",
    )

    def __init__(
        self,
        project: Project,
        data: Mapping[str, str] | None = None,
        chosen: Sequence[str] = (),
    ) -> None:
        offered = article_languages(project)
        initial = {"languages": chosen, "other_languages": ", ".join(sorted({*chosen} - {*offered}))}
        super().__init__(data, label_suffix="", initial=initial)
        offer(self, "languages", [(code, language_name(code)) for code in offered])

    def clean_other_languages(self) -> list[str]:
        codes = [code.strip() for code in self.cleaned_data["other_languages"].split(",") if code.strip()]
        wrong = [code for code in codes if not is_language_code(code)]
        if wrong:
            raise forms.ValidationError(
                f"Found {', '.join(wrong)}; expected language codes such as de or pt-BR."
            )
        return codes

    @property
    def chosen_languages(self) -> list[str]:
        """The languages of a valid form."""
        return sorted({*self.cleaned_data["languages"], *self.cleaned_data["other_languages"]})


class RaterLanguagesForm(LanguagesForm):
    def clean(self) -> dict[str, object]:
        super().clean()
        if not self.errors and not self.chosen_languages:
            self.add_error("other_languages", "Choose at least one language, or suspend the rater.")
        return self.cleaned_data


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter the reason. The audit log keeps it."},
        help_text="Kept in the audit log. Only managers see it.",
    )

    def __init__(self, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")


class InvitationForm(LanguagesForm):
    role = forms.ChoiceField(
        choices=[
            (Role.ANNOTATOR, "Annotator: rates summaries"),
            (Role.RESEARCHER, "Researcher: reads ratings and runs evaluators, sees no names"),
            (Role.MANAGER, "Manager: imports, invites and sees names"),
        ],
        widget=forms.RadioSelect,
        initial=Role.ANNOTATOR,
    )
    field_order = ("role", "languages", "other_languages", "people", "note")
    people = forms.CharField(
        label="E-mail addresses",
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One on each line, or CSV: address, role, languages. Leave empty for one link.",
    )
    note = forms.CharField(
        required=False, max_length=120, help_text="Recipient of the invitation. Only managers see this."
    )

    def __init__(self, project: Project, data: Mapping[str, str] | None = None) -> None:
        super().__init__(project, data)
        self.project = project

    def clean(self) -> dict[str, object]:
        super().clean()
        if self.errors:
            return self.cleaned_data
        told = Invitee(self.cleaned_data["role"], self.chosen_languages, note=self.cleaned_data["note"])
        if self.cleaned_data["people"]:
            try:
                self.cleaned_data["invitees"] = read_invitees(self.project, self.cleaned_data["people"], told)
            except InvalidList as invalid:
                self.add_error("people", invalid.problems)
        elif told.role == Role.ANNOTATOR and not told.languages:
            self.add_error("languages", "Choose at least one language for the annotator.")
        else:
            self.cleaned_data["invitees"] = [told]
        return self.cleaned_data


STATUSES = ("open", "used", "expired", "revoked")
INVITATIONS_ON_A_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the people. POST invites some and shows the links that are not mailed, which are not stored."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    form = InvitationForm(project, request.POST if request.method == "POST" else None)
    links: list[tuple[Invitation, str]] = []
    if form.is_valid():
        invited = invite_all(project, form.cleaned_data["invitees"])
        links = mail_invitations(
            [
                (each, request.build_absolute_uri(reverse("invitation", args=[token])))
                for each, token in invited
            ]
        )
        mailed = len(invited) - len(links)
        if mailed:
            messages.success(request, f"{noun(mailed, 'invitation,invitations')} sent by e-mail.")
        form = InvitationForm(project)
    raters, headings = rater_rows(project, request.GET.get("sort", ""))
    context = {
        "form": form,
        "links": links,
        "sends_mail": sends_mail(),
        "unsent": sends_mail() and any(invitation.email for invitation, _ in links),
        "open_invitations": project.invitations.open().count(),
        "shortages": gold_shortages(project),
        "waiting": raters_waiting(project),
        "without_link": link_refusals(request.user, project),
        "memberships": project.memberships.select_related("user").order_by("role", "user__username"),
        "raters": raters,
        "headings": headings,
    }
    return render(request, "annotation/people/people.html", context, status=422 if form.errors else 200)


@require_safe
def invitations(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show all invitations of the project, the latest first, or those with the chosen status."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    invited = list(project.invitations.select_related("accepted_by"))
    counts = Counter(each.status for each in invited)
    status = request.GET.get("status", "")
    shown = [each for each in invited if each.status == status] if status in STATUSES else invited
    page = Paginator(shown, INVITATIONS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "status": status if status in STATUSES else "",
        "counts": [(each, counts[each]) for each in STATUSES],
        "query": f"status={status}" if status in STATUSES else "",
    }
    return render(request, "annotation/people/invitations.html", context)


@require_POST
def invitation_revoke(request: SignedInRequest, slug: str, invitation_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    revoke_invitation(one_of(project.invitations.all(), invitation_id, "invitation"))
    messages.success(request, "Invitation revoked. Its link no longer works.")
    return redirect("invitations", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def member_remove(request: SignedInRequest, slug: str, membership_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    membership = one_of(project.memberships.select_related("user"), membership_id, "member")
    if request.method == "POST":
        remove_member(membership)
        messages.success(request, f"{membership.user} is no longer a {membership.role} of {project}.")
        return redirect("home") if membership.user == request.user else redirect("people", slug)
    return render(request, "annotation/people/member_remove.html", {"membership": membership})


@require_http_methods(["GET", "HEAD", "POST"])
def rater_languages(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    rater = _rater(project, rater_id)
    form = RaterLanguagesForm(project, request.POST if request.method == "POST" else None, rater.languages)
    if form.is_valid():
        set_rater_languages(rater, form.chosen_languages)
        messages.success(request, f"{rater} now rates in {', '.join(form.chosen_languages)}.")
        return redirect("people", slug)
    context = {"rater": rater, "form": form}
    return render(
        request, "annotation/people/rater_languages.html", context, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
def rater_remove(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    outcome = "removed. You can reinstate them at any time"
    return _asking_why(request, slug, rater_id, remove_rater, "annotation/people/rater_remove.html", outcome)


@require_http_methods(["GET", "HEAD", "POST"])
def rater_suspend(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    outcome = "suspended. They get no new summaries; past ratings still count"
    return _asking_why(
        request, slug, rater_id, suspend_rater, "annotation/people/rater_suspend.html", outcome
    )


@require_http_methods(["GET", "HEAD", "POST"])
def rater_reinstate(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    outcome = "reinstated, with all ratings"
    return _asking_why(
        request, slug, rater_id, reinstate_rater, "annotation/people/rater_reinstate.html", outcome
    )


def _asking_why(
    request: SignedInRequest,
    slug: str,
    rater_id: int,
    change: Callable[[Rater, str], None],
    template: str,
    outcome: str,
) -> HttpResponse:
    """Ask for a confirmation and a reason; with both, change the rater."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    rater = _rater(project, rater_id)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        change(rater, form.cleaned_data["reason"])
        messages.success(request, f"{rater} {outcome}.")
        return redirect("people", slug)
    context = {"rater": rater, "form": form, "effect": effect_of_removal(rater)}
    return render(request, template, context, status=422 if form.errors else 200)


def _rater(project: Project, rater_id: int) -> Rater:
    return one_of(project.raters.select_related("user", "project"), rater_id, "rater")


@require_http_methods(["GET", "HEAD", "POST"])
def rating_stop(request: SignedInRequest, slug: str) -> HttpResponse:
    """Ask managers or researchers who rate whether they want to stop rating, and stop it."""
    rater = open_as_rater(request, slug)
    if request.method == "POST":
        stop_rating(rater)
        messages.success(request, gettext("You no longer rate here. Your ratings still count."))
        return redirect("progress", slug)
    if not may_stop_rating(request.user, rater.project):
        raise NotFound(gettext("You do not rate here, or you have no other part in the project."))
    return render(request, "annotation/people/rating_stop.html")
