"""Setups, runs, batches, scores, and what language models are asked with."""

from scoring.models.alignment import Judge, JudgeVersion, LabelSplit, SealedOpening, Trial
from scoring.models.dimensions import JudgedDimension
from scoring.models.endpoints import Endpoint, EndpointModel
from scoring.models.families import FamilyMember, RunFamily
from scoring.models.hand_ins import HandIn
from scoring.models.replies import Reservation, StoredReply
from scoring.models.runs import Batch, Run
from scoring.models.scores import Score
from scoring.models.setups import EvaluatorSetup, Probe, SeenArticle, SetUp
from scoring.models.steadiness import ReaskedReply, Reasking, ReaskingSchedule
from scoring.models.workers import Worker

__all__ = [
    "Batch",
    "Endpoint",
    "EndpointModel",
    "EvaluatorSetup",
    "FamilyMember",
    "HandIn",
    "Judge",
    "JudgeVersion",
    "JudgedDimension",
    "LabelSplit",
    "Probe",
    "ReaskedReply",
    "Reasking",
    "ReaskingSchedule",
    "Reservation",
    "Run",
    "RunFamily",
    "Score",
    "SealedOpening",
    "SeenArticle",
    "SetUp",
    "StoredReply",
    "Trial",
    "Worker",
]
