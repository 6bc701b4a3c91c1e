"""Setups, runs, batches, scores, trainings, and what language models are asked with."""

from scoring.models.api_batches import ApiBatch
from scoring.models.dimensions import JudgedDimension
from scoring.models.endpoints import Endpoint, EndpointModel
from scoring.models.experiments import Experiment, ExperimentMember
from scoring.models.judges import Judge, JudgeVersion, LabelSplit, SealedOpening, Trial
from scoring.models.learning_curves import CurveModel, LearningCurve
from scoring.models.rechecks import RecheckSchedule, RecheckScore
from scoring.models.registered_models import RegisteredModel
from scoring.models.replies import Reservation, StoredReply
from scoring.models.runs import Batch, Run
from scoring.models.scores import Score
from scoring.models.setups import Probe, SeenArticle, SeenText, Setup, SetupBase
from scoring.models.trainings import Training, TrainingPoint
from scoring.models.webhooks import Webhook, WebhookDelivery
from scoring.models.workers import Worker

__all__ = [
    "ApiBatch",
    "Batch",
    "CurveModel",
    "Endpoint",
    "EndpointModel",
    "Experiment",
    "ExperimentMember",
    "Judge",
    "JudgeVersion",
    "JudgedDimension",
    "LabelSplit",
    "LearningCurve",
    "Probe",
    "RecheckSchedule",
    "RecheckScore",
    "RegisteredModel",
    "Reservation",
    "Run",
    "Score",
    "SealedOpening",
    "SeenArticle",
    "SeenText",
    "Setup",
    "SetupBase",
    "StoredReply",
    "Training",
    "TrainingPoint",
    "Trial",
    "Webhook",
    "WebhookDelivery",
    "Worker",
]
