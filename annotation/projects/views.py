"""Pages of projects: a new project or questionnaire, settings and publishing."""

from copy import copy

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import DomainError, InvalidFields, NotAllowed
from annotation.models import Project
from annotation.permissions import Permission, may_create_project
from annotation.progress.progress import overall_progress
from annotation.projects.forms import ProjectForm, SettingsForm
from annotation.projects.questionnaire_form import (
    QuestionFormSet,
    QuestionnaireForm,
    can_be_copied,
    copied_forms,
    defined,
    edited_forms,
)
from annotation.projects.settings import (
    REDUNDANCY,
    change_settings,
    create_project,
    known_questionnaires,
    more_ratings,
    publish_results,
    store_questionnaire,
    unpublish_results,
)
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_http_methods(["GET", "HEAD", "POST"])
def project_new(request: SignedInRequest) -> HttpResponse:
    if not may_create_project(request.user):
        raise NotAllowed("Only administrators and managers can create projects. Ask one of them.")
    sent = request.POST if request.method == "POST" else None
    form = ProjectForm(sent, questionnaire=request.GET.get("questionnaire", ""))
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            project = create_project(
                chosen["name"],
                form.chosen_questionnaire(),
                request.user,
                slug=chosen["slug"],
                redundancy=chosen["redundancy"],
            )
        except DomainError as refused:
            form.add_error("slug", str(refused))
        else:
            messages.success(request, f"Project “{project}” created. You are its manager.")
            return redirect("set_up", project.slug)
    return render(request, "annotation/projects/new.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def project_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the settings. POST saves them, for htmx it only previews the effect of the redundancy."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    form = SettingsForm(copy(project), request.POST if request.method == "POST" else None)
    if request.htmx:
        return render(request, "annotation/projects/settings.html#effect", _effect(project, form))
    if form.is_valid():
        try:
            affected = change_settings(project, form.changes())
        except InvalidFields as refused:
            for name, message in refused.fields.items():
                form.add_error(name, message)
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            summaries = "1 summary now needs" if affected == 1 else f"{affected:,} summaries now need"
            needs = f" {summaries} a different number of ratings." if affected else ""
            messages.success(request, f"Settings saved.{needs}")
            return redirect("project_settings", slug)
    addresses = [
        (title, request.build_absolute_uri(reverse(name, args=[slug])))
        for title, name in (("Comparison", "comparison"), ("Agreement", "agreement"))
    ]
    context = {"form": form, "public_addresses": addresses, **_effect(project, form)}
    return render(request, "annotation/projects/settings.html", context, status=422 if form.errors else 200)


def _effect(project: Project, form: SettingsForm) -> dict[str, int | None]:
    """Return the missing ratings, and how many `more` the form's redundancy needs: None if it is invalid."""
    more: int | None = 0
    if form.errors.keys() & set(REDUNDANCY):
        more = None
    elif form.is_bound:
        try:
            more = more_ratings(project, {name: form.cleaned_data[name] for name in REDUNDANCY})
        except DomainError:
            more = None
    missing = overall_progress([project])[project.pk].missing
    return {"more": more, "fewer": -(more or 0), "missing": missing, "then": missing + (more or 0)}


@require_http_methods(["GET", "HEAD", "POST"])
def results_publish(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    if request.method == "POST":
        publish_results(project, request.user)
        messages.success(request, "Results published. Anybody with the address can read them.")
        return redirect("project_settings", slug)
    return render(request, "annotation/projects/results_publish.html")


@require_POST
def results_unpublish(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    unpublish_results(project, request.user)
    messages.success(request, "Results unpublished. Only managers and researchers can read them.")
    return redirect("project_settings", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def questionnaire_new(request: SignedInRequest) -> HttpResponse:
    """Show the form. POST creates the questionnaire, or with "edit" adds, moves or removes a question.

    "copy" fills the form with another questionnaire.
    """
    if not may_create_project(request.user):
        raise NotAllowed("Only administrators and managers can define questionnaires. Ask one of them.")
    template = "annotation/projects/questionnaire_new.html"
    if edit := request.POST.get("edit"):
        form, questions = edited_forms(request.POST, edit)
        return render(request, template, {"form": form, "questions": questions})
    if request.method != "POST":
        copyable = {key: known for key, known in known_questionnaires().items() if can_be_copied(known)}
        copied = copyable.get(request.GET.get("copy", ""))
        form, questions = copied_forms(copied) if copied else (QuestionnaireForm(), QuestionFormSet())
        context = {"form": form, "questions": questions, "copyable": copyable.values(), "copied": copied}
        return render(request, template, context)
    form, questions = QuestionnaireForm(request.POST), QuestionFormSet(request.POST)
    if form.is_valid() and questions.is_valid():
        try:
            stored = store_questionnaire(defined(form, questions))
        except (DomainError, ValueError) as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"“{stored.title}” created. You can now choose it.")
            return redirect(f"{reverse('project_new')}?questionnaire={stored.key}")
    return render(request, template, {"form": form, "questions": questions}, status=422)
