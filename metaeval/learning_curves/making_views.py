"""Start, cancel, resume and delete a learning curve."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.permissions import Permission
from annotation.templatetags.figures import noun
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.learning_curves.forms import CurveForm
from metaeval.training.views import asked_trainer, methods_context
from scoring.errors import InvalidLearningCurve, InvalidTraining, ModelInUse, TrainingBusy
from scoring.learning_curves.following import (
    FollowedCurve,
    cancel_curve,
    curve_of,
    delete_curve,
    resume_curve,
)
from scoring.learning_curves.planning import plan_learning_curve, start_learning_curve


@require_http_methods(["GET", "HEAD", "POST"])
def learning_curve_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form of a new learning curve and start it; for htmx preview it."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    trainer = asked_trainer(request)
    form = CurveForm(project, trainer, request.POST if request.method == "POST" else None)
    planned = None
    if form.is_valid():
        try:
            planned = plan_learning_curve(project, form.wanted)
            if request.POST.get("action") == "start":
                curve = start_learning_curve(planned, request.user)
                for warning in planned.warnings:
                    messages.warning(request, warning)
                return redirect("learning_curve", slug, curve.pk)
        except (InvalidLearningCurve, InvalidTraining) as error:
            form.refuse(str(error))
    context = {"form": form, "plan": planned, **methods_context(trainer)}
    part = "#preview" if request.htmx else ""
    template = f"metaeval/learning_curve_new.html{part}"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@require_POST
def learning_curve_cancel(request: SignedInRequest, slug: str, curve_id: int) -> HttpResponse:
    return _act(request, slug, curve_id, cancel_curve, "cancelled. Finished models and scores are kept.")


@require_POST
def learning_curve_resume(request: SignedInRequest, slug: str, curve_id: int) -> HttpResponse:
    return _act(request, slug, curve_id, resume_curve, "resumed.")


@require_http_methods(["GET", "HEAD", "POST"])
def learning_curve_delete(request: SignedInRequest, slug: str, curve_id: int) -> HttpResponse:
    """Ask for confirmation, then delete the learning curve with its models."""
    followed = curve_of(open_project(request, slug, Permission.MANAGE_RUNS), curve_id)
    if request.method == "POST":
        try:
            delete_curve(followed, request.user)
        except (ModelInUse, TrainingBusy) as error:
            messages.warning(request, str(error))
            return redirect("learning_curve", slug, curve_id)
        messages.success(request, f"Learning curve {followed.curve.name} and its models deleted.")
        return redirect("trainings", slug)
    return render(request, "metaeval/learning_curve_delete.html", {"followed": followed})


def _act(
    request: SignedInRequest,
    slug: str,
    curve_id: int,
    act: Callable[[FollowedCurve, User], int],
    done: str,
) -> HttpResponse:
    followed = curve_of(open_project(request, slug, Permission.MANAGE_RUNS), curve_id)
    messages.success(request, f"{noun(act(followed, request.user), 'model,models')} {done}")
    return redirect("learning_curve", slug, curve_id)
