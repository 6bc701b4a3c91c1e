"""The form of a new learning curve: name, shares, seeds, and the method's other parameters."""

from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.models import Project
from metaeval.training.forms import TrainingForm
from scoring.learning_curves.planning import VARIED, CurveRequest
from scoring.learning_curves.shares import MOST_SEEDS, USUAL_SEEDS, USUAL_SHARES, read_shares
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
