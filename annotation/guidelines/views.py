"""The manager's pages: versions by language, the draft and its preview, publishing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import DomainError, InvalidFields
from annotation.guidelines.following import Follower, current_guidelines, followers_of_each, raters_to_confirm
from annotation.guidelines.rendering import RenderedGuidelines, render_guidelines
from annotation.guidelines.starting_points import starting_points, starting_text
from annotation.guidelines.versions import (
    LONGEST_CHANGES,
    LONGEST_TEXT,
    discard_draft,
    draft_in,
    latest_version,
    offered_languages,
    publish_draft,
    published_version,
    ratings_by_version,
    save_draft,
    set_default_language,
    start_draft,
)
from annotation.models import GuidelinesVersion, Project
from annotation.permissions import Permission
from annotation.protocol import Question
from annotation.templatetags.texts import language_name
from annotation.texts.word_diff import changed_passages
from annotation.web.form_choices import article_languages, offer
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@dataclass(frozen=True)
class ExampleCount:
    """The examples of one question in one language, by answer."""

    language: str
    by_answer: tuple[tuple[str, int], ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The answers without an example. Unsure needs none."""
        return tuple(answer for answer, count in self.by_answer if not count and answer != "unsure")


@dataclass(frozen=True)
class QuestionCoverage:
    question: Question
    has_section: bool
    languages: tuple[ExampleCount, ...]


def coverage(
    rendered: RenderedGuidelines, questions: Sequence[Question], languages: Sequence[str]
) -> list[QuestionCoverage]:
    """Return for each question whether it has a section, and its examples for raters of each language.

    Examples outside a part for one language count in every language.
    """
    counts = Counter(rendered.examples)
    explained = {section.question for section in rendered.sections}
    return [
        QuestionCoverage(
            question,
            question.key in explained,
            tuple(
                ExampleCount(
                    language,
                    tuple(
                        (
                            answer,
                            sum(
                                count
                                for example, count in counts.items()
                                if (example.question, example.answer) == (question.key, answer)
                                and example.language in ("", language)
                            ),
                        )
                        for answer in question.scale.choices
                    ),
                )
                for language in languages
            ),
        )
        for question in questions
    ]


Data = Mapping[str, Any] | None


def _language_choices(project: Project) -> list[tuple[str, str]]:
    return [(code, language_name(code)) for code in offered_languages(project)]


class StartDraftForm(forms.Form):
    language = forms.ChoiceField()
    start = forms.ChoiceField(label="Start from")

    def __init__(self, project: Project, data: Data = None) -> None:
        super().__init__(data, initial={"language": project.default_language}, label_suffix="")
        with_draft = set(project.guidelines.drafts().values_list("language", flat=True))
        self.languages = [(code, name) for code, name in _language_choices(project) if code not in with_draft]
        offer(self, "language", self.languages)
        offer(self, "start", starting_points(project))


class DefaultLanguageForm(forms.Form):
    default_language = forms.ChoiceField(
        label="Default language",
        help_text="Language of the guidelines for raters who have none in their own.",
    )

    def __init__(self, project: Project, data: Data = None) -> None:
        super().__init__(data, initial={"default_language": project.default_language}, label_suffix="")
        offer(self, "default_language", _language_choices(project))


class DraftForm(forms.Form):
    """The draft. `saves` says which state of it was opened."""

    text = forms.CharField(
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 28, "spellcheck": "true"}),
    )
    changes = forms.CharField(
        label="What changed",
        required=False,
        max_length=LONGEST_CHANGES,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Raters who confirmed an earlier version read this first.",
    )
    saves = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, draft: GuidelinesVersion, data: Data = None) -> None:
        initial = {"text": draft.text, "changes": draft.changes, "saves": draft.saves}
        super().__init__(data, initial=initial, label_suffix="")
        self.fields["text"].label = f"Text in {language_name(draft.language)}"

    def clean_text(self) -> str:
        """Return the text with the line ends of Markdown files; browsers send others."""
        return self.cleaned_data["text"].replace("\r\n", "\n")


class DraftStateForm(forms.Form):
    """The state of the draft that a confirmation is about."""

    saves = forms.IntegerField()


@dataclass(frozen=True)
class LanguageRow:
    """The guidelines in one language. `versions` has the latest first, each with its ratings."""

    language: str
    draft: GuidelinesVersion | None
    versions: list[tuple[GuidelinesVersion, int]]
    followers: list[Follower]

    @property
    def confirmed(self) -> int:
        return sum(follower.confirmed_at is not None for follower in self.followers)


@require_http_methods(["GET", "HEAD", "POST"])
def guidelines_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    """List drafts, versions and confirmations. POST starts a draft."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    form = StartDraftForm(project, request.POST if request.method == "POST" else None)
    if form.is_valid():
        language = form.cleaned_data["language"]
        try:
            text = starting_text(project, form.cleaned_data["start"])
            start_draft(project, request.user, language, text)
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("guidelines_draft", slug, language)
    context = {"form": form, "default_form": DefaultLanguageForm(project), "rows": _language_rows(project)}
    status = 422 if form.errors else 200
    return render(request, "annotation/guidelines/settings.html", context, status=status)


def _language_rows(project: Project) -> list[LanguageRow]:
    current = current_guidelines(project)
    followers = followers_of_each(project, current.by_language.values(), current)
    rated = ratings_by_version(project)
    every = list(project.guidelines.defer("text").select_related("author").order_by("language", "-number"))
    rows = []
    for language in dict.fromkeys(version.language for version in every):
        own = [version for version in every if version.language == language]
        latest = current.by_language.get(language)
        rows.append(
            LanguageRow(
                language,
                next((version for version in own if version.number is None), None),
                [(version, rated.get(version.pk, 0)) for version in own if version.number is not None],
                followers[latest.pk] if latest else [],
            )
        )
    return rows


@require_POST
def guidelines_default(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    form = DefaultLanguageForm(project, request.POST)
    if form.is_valid():
        language = form.cleaned_data["default_language"]
        set_default_language(project, request.user, language)
        messages.success(request, f"Default language: {language_name(language)}.")
    else:
        messages.error(request, "Default language not changed. Choose one of the list.")
    return redirect("guidelines_settings", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def guidelines_draft(request: SignedInRequest, slug: str, language: str) -> HttpResponse:
    """Edit the draft. POST saves it; for htmx it only previews the text."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    draft = draft_in(project, language)
    form = DraftForm(draft, request.POST if request.method == "POST" else None)
    if form.is_valid() and not request.htmx:
        sent = form.cleaned_data
        try:
            save_draft(project, request.user, language, sent["text"], sent["changes"], sent["saves"])
        except InvalidFields as refused:
            for name, message in refused.fields.items():
                form.add_error(name, message)
        except DomainError as refused:
            form.add_error(None, f"Not saved. {refused} Your text is still below.")
        else:
            if "publish" in request.POST:
                return redirect("guidelines_publish", slug, language)
            messages.success(request, "Draft saved. Raters do not see it until you publish it.")
            return redirect("guidelines_draft", slug, language)
    return _draft_page(request, project, draft, form)


def _draft_page(
    request: SignedInRequest, project: Project, draft: GuidelinesVersion, form: DraftForm
) -> HttpResponse:
    questions = project.questionnaire.protocol.questions
    text = form["text"].value() or ""
    rendered = render_guidelines(text[:LONGEST_TEXT], questions)
    context = {
        "draft": draft,
        "form": form,
        "latest": latest_version(project, draft.language),
        "rendered": rendered,
        "coverage": coverage(rendered, questions, article_languages(project)),
    }
    template = (
        "annotation/guidelines/draft.html#preview" if request.htmx else "annotation/guidelines/draft.html"
    )
    status = 422 if form.errors and not request.htmx else 200
    return render(request, template, context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def guidelines_publish(request: SignedInRequest, slug: str, language: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    draft = draft_in(project, language)
    form = DraftStateForm(request.POST if request.method == "POST" else None)
    refusal = ""
    if form.is_valid():
        try:
            version = publish_draft(project, request.user, language, form.cleaned_data["saves"])
        except InvalidFields as refused:
            refusal = " ".join(refused.fields.values())
        except DomainError as refused:
            refusal = str(refused)
        else:
            messages.success(request, f"Version {version.number} published in {language_name(language)}.")
            return redirect("guidelines_settings", slug)
    latest = latest_version(project, language)
    questions = project.questionnaire.protocol.questions
    found = coverage(render_guidelines(draft.text, questions), questions, article_languages(project))
    context = {
        "draft": draft,
        "latest": latest,
        "refusal": refusal,
        "raters": raters_to_confirm(draft),
        "passages": changed_passages(latest.text, draft.text) if latest else [],
        "unexplained": [each.question for each in found if not each.has_section],
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/guidelines/publish.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def guidelines_discard(request: SignedInRequest, slug: str, language: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    draft = draft_in(project, language)
    form = DraftStateForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        discard_draft(project, request.user, language, form.cleaned_data["saves"])
        messages.success(request, "Draft discarded.")
        return redirect("guidelines_settings", slug)
    return render(request, "annotation/guidelines/discard.html", {"draft": draft})


@require_safe
def guidelines_version(request: SignedInRequest, slug: str, language: str, number: int) -> HttpResponse:
    """Show a published version, and what it changed."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    version = published_version(project, language, number)
    before = project.guidelines.published().filter(language=language, number=number - 1).first()
    questions = project.questionnaire.protocol.questions
    rendered = render_guidelines(version.text, questions)
    context = {
        "version": version,
        "before": before,
        "passages": changed_passages(before.text, version.text) if before else [],
        "rendered": rendered,
        "coverage": coverage(rendered, questions, article_languages(project)),
        "manages": Permission.MANAGE_PROJECT in project.reader_may,
    }
    return render(request, "annotation/guidelines/version.html", context)
