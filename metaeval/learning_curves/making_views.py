"""Start, cancel, resume and delete a learning curve; the form of a new one."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Project
from annotation.permissions import Permission
from annotation.templatetags.figures import noun
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.learning_curves.following import (
    FollowedCurve,
    cancel_curve,
    curve_of,
    delete_curve,
    resume_curve,
)
from metaeval.learning_curves.planning import VARIED, CurveRequest, plan_learning_curve, start_learning_curve
from metaeval.learning_curves.shares import MOST_SEEDS, USUAL_SEEDS, USUAL_SHARES, read_shares
from metaeval.training.forms import TrainingForm
from metaeval.training.views import asked_trainer, methods_context
from scoring.errors import InvalidLearningCurve, InvalidTraining, ModelInUse, TrainingBusy
from scoring.models import LearningCurve
from scoring.trainers.contract import Trainer

LONGEST_SHARES = 200  # characters


class CurveForm(TrainingForm):
    """The form of a training, without the parameters in which the trainings differ."""

    name = forms.CharField(max_length=LearningCurve._meta.get_field("name").max_length)
    shares = forms.CharField(
        max_length=LONGEST_SHARES,
        initial=USUAL_SHARES,
        label="Shares (%)",
        help_text="Shares of the training articles, separated by commas.",
    )
    seeds = forms.IntegerField(
        initial=USUAL_SEEDS, min_value=1, max_value=MOST_SEEDS, help_text="Models for each share."
    )

    def __init__(self, project: Project, trainer: type[Trainer], data: Any = None) -> None:
        super().__init__(project, trainer, data)
        self._method = trainer.name
        self._specs = tuple(spec for spec in self._specs if spec.name not in VARIED)
        for name in VARIED:
            del self.fields[f"param_{name}"]

    def clean_shares(self) -> tuple[float, ...]:
        try:
            return read_shares(self.cleaned_data["shares"])
        except ValueError as error:
            raise forms.ValidationError(capfirst(str(error))) from error

    @property
    def wanted(self) -> CurveRequest:
        return CurveRequest(
            name=self.cleaned_data["name"],
            method=self._method,
            shares=self.cleaned_data["shares"],
            seeds=self.cleaned_data["seeds"],
            params=self.given,
        )


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
    template = f"metaeval/learning_curves/new.html{part}"
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
    return render(request, "metaeval/learning_curves/delete.html", {"followed": followed})


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
