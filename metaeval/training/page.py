"""The page of a training: its progress, its curves, and what has become of its model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from django.urls import reverse
from django.utils.http import urlencode

from metaeval.charts import Curve, curves
from metaeval.export.chart import Chart, FileRows
from metaeval.live.choices import Choices
from metaeval.templatetags.trainings import measure_words
from scoring.contract.params import ShownParam, params_in_words, undeclared_params
from scoring.models import LearningCurve, Setup, Training, TrainingPoint
from scoring.trainers import TRAINERS, load_trainer
from scoring.training.model_uses import uses_of
from scoring.weights.trained_models import TrainedModel, trained_model

LOSS = "loss"
ROLES = {"train": "training"}
"""Role of seen articles in a card -> the same in words, where it differs."""


@dataclass(frozen=True)
class TrainingPage:
    training: Training
    points: Sequence[TrainingPoint]
    """Points of the curves, in order of steps."""
    model: TrainedModel | None
    """The trained model; None until its best weights are installed."""
    setups: Sequence[Setup]
    """The project's setups that have scored with the model."""
    curve: LearningCurve | None = None
    """The learning curve that it belongs to."""
    choices: Choices = field(default_factory=Choices)

    @property
    def address_ids(self) -> tuple[int, ...]:
        """The ids in the addresses of the page's files."""
        return (self.training.pk,)

    @property
    def title(self) -> str:
        """The method's title; its name if this version no longer has it."""
        method = self.training.method
        return load_trainer(method).title if method in TRAINERS else method

    @property
    def params(self) -> Sequence[ShownParam]:
        training = self.training
        if training.method not in TRAINERS:
            return undeclared_params(training.params)
        return params_in_words(load_trainer(training.method), training.params)

    @property
    def epoch(self) -> float | None:
        return self.points[-1].epoch if self.points else None

    @property
    def epochs(self) -> int | None:
        """The most epochs, as its parameters say."""
        return self.training.params.get("epochs")

    @property
    def seen_in_words(self) -> str:
        """Return such as "3 in training, 2 in validation"; empty without a model."""
        return seen_in_words(self.model)

    @property
    def run_address(self) -> str:
        """The address of the form of a run with the model, filled in."""
        return run_address(self.training.project.slug, self.model) if self.model else ""

    @property
    def charts(self) -> list[Chart]:
        measures = sorted({name for point in self.points for name in point.measures})
        losses = [name for name in measures if name.endswith(LOSS)]
        others = [name for name in measures if not name.endswith(LOSS)]
        training_loss = [(point.step, point.loss) for point in self.points if point.loss is not None]
        shown = [*([_curve("training loss", training_loss)] if training_loss else []), *map(self._of, losses)]
        return [
            *([self._chart("loss", "Loss", shown)] if shown else []),
            *([self._chart("agreement", "Validation", [*map(self._of, others)])] if others else []),
        ]

    def _of(self, measure: str) -> Curve:
        found = [(each.step, each.measures[measure]) for each in self.points if measure in each.measures]
        return _curve(measure_words(measure), found)

    def _chart(self, name: str, title: str, shown: Sequence[Curve]) -> Chart:
        draw = partial(
            curves,
            shown,
            title=f"{title} of {self.training.name} by step",
            across_title="Step",
            up_title=title,
            best=self.training.best_step,
        )
        return Chart(name, (self.training.name,), draw, self.rows)

    def rows(self) -> FileRows:
        """Return all points, as rows of a file."""
        return [
            {"step": each.step, "epoch": each.epoch, "training_loss": each.loss, **each.measures}
            for each in self.points
        ]


def training_page(training: Training) -> TrainingPage:
    return TrainingPage(
        training=training,
        points=list(training.points.all()),
        model=trained_model(training.name) if training.has_model else None,
        curve=LearningCurve.objects.filter(models__training=training).defer("pool").first(),
        setups=[each for each in uses_of(training.name).setups if each.project_id == training.project_id],
    )


def seen_in_words(model: TrainedModel | None) -> str:
    """Return such as "3 in training, 2 in validation"; empty without a model."""
    articles = model.card.articles if model else {}
    return ", ".join(f"{len(texts):,} in {ROLES.get(role, role)}" for role, texts in articles.items())


def run_address(slug: str, model: TrainedModel) -> str:
    """Return the address of the form of a run with this model, filled in."""
    params = {**model.card.params, "model": model.model}
    given = {"evaluator": model.card.evaluator, **{f"param_{name}": value for name, value in params.items()}}
    return f"{reverse('run_new', args=[slug])}?{urlencode(given, doseq=True)}"


def _curve(name: str, points: Sequence[tuple[int, float]]) -> Curve:
    return Curve(name, [step for step, _ in points], [value for _, value in points])
