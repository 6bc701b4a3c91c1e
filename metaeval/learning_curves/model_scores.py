"""Scoring the test articles of a learning curve with each model as soon as it is trained."""

import logging

from django.db import OperationalError, transaction
from django.db.models import QuerySet

from annotation.database.portions import portions
from annotation.errors import DomainError
from annotation.models import Article
from annotation.permissions import Permission, permissions_of
from scoring.errors import RunBusy
from scoring.inputs.items import Selection
from scoring.models import CurveModel, LearningCurve, Training
from scoring.runs.planning import plan, start, stored_setup
from scoring.runs.worker import unexpected_error_message
from scoring.training.wake_ups import wake_next
from scoring.weights.trained_models import trained_model

logger = logging.getLogger(__name__)


def go_on_after(training_id: int) -> None:
    """Score with the model of a training that ended, and wake a worker for its curve's next training.

    Do nothing for a training of its own.
    """
    curve = LearningCurve.objects.filter(models__training=training_id).defer("pool").first()
    if curve is not None:
        score_trained(curve)
        wake_next(curve)


def score_waiting_models() -> None:
    """Score with all trained models that wait for it; called by the sweep."""
    waiting = LearningCurve.objects.filter(models__in=_waiting()).defer("pool")
    for curve in waiting.distinct():
        score_trained(curve)


def score_trained(curve: LearningCurve) -> None:
    """Start a run over the test articles for each trained model that has none.

    Where that fails, the reason is stored with the model.
    """
    for model in _waiting().filter(curve=curve).select_related("curve__project", "training"):
        try:
            _start_run(model)
        except OperationalError:  # the sweep tries again
            logger.warning("Scoring with %s could not be started.", model, exc_info=True)
        except DomainError as error:
            CurveModel.objects.filter(pk=model.pk).update(failure=str(error))
        except Exception as error:
            logger.exception("Scoring with %s could not be started.", model)
            CurveModel.objects.filter(pk=model.pk).update(failure=unexpected_error_message(error))


def held_out_articles(curve: LearningCurve) -> frozenset[int]:
    """Return the primary keys of the project's articles that have the text of a test article."""
    articles = Article.objects.filter(project=curve.project_id)
    return frozenset(
        pk
        for digests in portions(curve.test_articles)
        for pk in articles.filter(text_digest__in=digests).values_list("pk", flat=True)
    )


def _waiting() -> QuerySet[CurveModel]:
    return CurveModel.objects.filter(
        training__status=Training.Status.DONE, is_handed_over=False, failure=""
    ).defer("curve__pool", "training__pool")


def _start_run(model: CurveModel) -> None:
    """Start the run, once under any concurrency. Raises DomainError."""
    curve, project = model.curve, model.curve.project
    found = trained_model(model.training.name)
    if found is None:
        raise DomainError(f"The files of the model {model.training.model} have been deleted.")
    planned = plan(
        project,
        found.card.evaluator,
        {**found.card.params, "model": found.model},
        Selection(articles=held_out_articles(curve)),
        by_operator=True,
    )
    creator = curve.created_by
    may_start = creator is not None and Permission.MANAGE_RUNS in permissions_of(creator, project)
    with transaction.atomic():
        locked = CurveModel.objects.select_for_update().get(pk=model.pk)
        if locked.is_handed_over:
            return
        try:
            setup = start(planned, creator if may_start else None).setup
        except RunBusy:  # somebody scores with this model already
            setup = stored_setup(planned)
        locked.setup, locked.is_handed_over = setup, True
        locked.save(update_fields=["setup", "is_handed_over"])
