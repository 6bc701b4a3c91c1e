"""The models, one file per noun. Django imports all of them from here."""

from annotation.models.access import ApiToken, Invitation, Membership, Role, SignOnIdentity, token_hash
from annotation.models.adjudications import Adjudication
from annotation.models.articles import Article, Summary, System
from annotation.models.assignments import ArticleFlag, Assignment
from annotation.models.audit import AuditEntry
from annotation.models.changes import Changed, ProjectChange
from annotation.models.correspondence import RaterMessage
from annotation.models.events import Event
from annotation.models.failures import FailureField
from annotation.models.gold import (
    CheckSuspension,
    GoldAnswer,
    GoldAnswerChange,
    GoldRating,
    Qualification,
    QualificationRound,
)
from annotation.models.guidelines import GuidelinesConfirmation, GuidelinesVersion
from annotation.models.idempotency import IdempotencyKey
from annotation.models.imported import Imported
from annotation.models.imports import ImportJob
from annotation.models.interface_languages import InterfaceLanguage
from annotation.models.leases import Leased, LeasedQuerySet, LeaseLost
from annotation.models.projects import Project, Question, Questionnaire
from annotation.models.raters import Rater
from annotation.models.ratings import Answer, Rating
from annotation.models.reratings import Rerating
from annotation.models.sessions import Session

__all__ = [
    "Adjudication",
    "Answer",
    "ApiToken",
    "Article",
    "ArticleFlag",
    "Assignment",
    "AuditEntry",
    "Changed",
    "CheckSuspension",
    "Event",
    "FailureField",
    "GoldAnswer",
    "GoldAnswerChange",
    "GoldRating",
    "GuidelinesConfirmation",
    "GuidelinesVersion",
    "IdempotencyKey",
    "ImportJob",
    "Imported",
    "InterfaceLanguage",
    "Invitation",
    "LeaseLost",
    "Leased",
    "LeasedQuerySet",
    "Membership",
    "Project",
    "ProjectChange",
    "Qualification",
    "QualificationRound",
    "Question",
    "Questionnaire",
    "Rater",
    "RaterMessage",
    "Rating",
    "Rerating",
    "Role",
    "Session",
    "SignOnIdentity",
    "Summary",
    "System",
    "token_hash",
]
