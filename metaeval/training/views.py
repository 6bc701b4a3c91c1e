"""The pages of trainings: a new one, and one."""

import inspect
from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import NotFound
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest, SignedInRequest
from metaeval.live.news import chart_file
from metaeval.training.forms import TrainingForm
from metaeval.training.page import training_page
from scoring.errors import InvalidTraining, ModelInUse, TrainingBusy
from scoring.models import Training
from scoring.trainers import TRAINERS, UnknownTrainer, load_trainer
from scoring.trainers.contract import Trainer
from scoring.training.lifecycle import (
    cancel_training,
    delete_training,
    resume_training,
    training_of,
)
from scoring.training.model_uses import use_in_progress, uses_of
from scoring.training.planning import plan_training, start_training


@require_http_methods(["GET", "HEAD", "POST"])
def training_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form of a new training and start it; for htmx preview it."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    trainer = asked_trainer(request)
    form = TrainingForm(project, trainer, request.POST if request.method == "POST" else None)
    planned = None
    if form.is_valid():
        try:
            planned = plan_training(project, trainer.name, form.given)
            if request.POST.get("action") == "start":
                training = start_training(planned, request.user, form.cleaned_data["name"])
                for warning in planned.warnings:
                    messages.warning(request, warning)
                return redirect("training", slug, training.pk)
        except InvalidTraining as error:
            form.refuse(str(error))
    context = {"form": form, "plan": planned, **methods_context(trainer)}
    template = "metaeval/training/new.html#preview" if request.htmx else "metaeval/training/new.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@require_safe
def training(request: HtmxRequest, slug: str, training_id: int) -> HttpResponse:
    """Show a training; for htmx, which polls until it ends, only what changes."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    context = {"page": training_page(training_of(project, training_id))}
    template = "metaeval/training/training.html#state" if request.htmx else "metaeval/training/training.html"
    return render(request, template, context)


@require_safe
def training_figure(request: HtmxRequest, slug: str, training_id: int, name: str, kind: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return chart_file(slug, training_page(training_of(project, training_id)).charts, name, kind)


@require_POST
def training_cancel(request: SignedInRequest, slug: str, training_id: int) -> HttpResponse:
    return _act(request, slug, training_id, cancel_training, "The training stops and keeps its best weights.")


@require_POST
def training_resume(request: SignedInRequest, slug: str, training_id: int) -> HttpResponse:
    return _act(request, slug, training_id, resume_training, "Training resumed.")


@require_http_methods(["GET", "HEAD", "POST"])
def training_delete(request: SignedInRequest, slug: str, training_id: int) -> HttpResponse:
    """Ask for confirmation, then delete."""
    found = training_of(open_project(request, slug, Permission.MANAGE_RUNS), training_id)
    if request.method == "POST":
        try:
            delete_training(found, request.user)
        except (ModelInUse, TrainingBusy) as error:
            messages.warning(request, str(error))
            return redirect("training", slug, training_id)
        messages.success(request, f"Training {found.name} and its files deleted.")
        return redirect("trainings", slug)
    context = {
        "training": found,
        "setups": uses_of(found.name).setups,
        "use_in_progress": use_in_progress(found.name),
    }
    return render(request, "metaeval/training/delete.html", context)


def asked_trainer(request: HttpRequest) -> type[Trainer]:
    """Return the trainer that the form or the address names, or the first one. Raises NotFound."""
    method = request.POST.get("method") or request.GET.get("method") or next(iter(TRAINERS))
    try:
        return load_trainer(method)
    except UnknownTrainer as error:
        raise NotFound(str(error)) from error


def methods_context(trainer: type[Trainer]) -> dict[str, object]:
    """Return what the form of a training shows of the chosen trainer and of all."""
    return {
        "trainer": _described(trainer),
        "methods": [_described(load_trainer(name)) for name in TRAINERS],
    }


def _described(trainer: type[Trainer]) -> dict[str, str]:
    """Return a trainer's declarations for a template, which would call a class."""
    return {
        "name": trainer.name,
        "title": trainer.title,
        "help": trainer.help,
        "source": trainer.source,
        "about": inspect.getdoc(trainer) or "",
    }


def _act(
    request: SignedInRequest,
    slug: str,
    training_id: int,
    act: Callable[[Training, User], None],
    done: str,
) -> HttpResponse:
    found = training_of(open_project(request, slug, Permission.MANAGE_RUNS), training_id)
    try:
        act(found, request.user)
        messages.success(request, done)
    except TrainingBusy as error:  # the page was outdated
        messages.warning(request, str(error))
    return redirect("training", slug, training_id)
