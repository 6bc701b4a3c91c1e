"""Recording events for webhooks, in the transaction of what happened."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from annotation.database.wake_ups import send_task
from annotation.models import Event, Project, Rater

WAKE_UP_S = 60.0
"""Seconds after which a message may be dropped. The sweep hands the event out by then."""


def record_event(project: Project, kind: Event.Kind, data: Mapping[str, Any]) -> None:
    """Store an event that the project wants (`Project.wants_event`), in the transaction of its cause.

    `data` are JSON values: ids, names and numbers, no texts of the project, no answers and no gold.
    """
    Event.objects.create(project=project, kind=kind, data=dict(data), at=timezone.now())
    send_task("hand_out_events", project.pk, "cpu", WAKE_UP_S)


def record_suspension(rater: Rater, *, by_checks: bool) -> None:
    """Store that the rater was suspended, by hidden checks or else by a person, if that is wanted."""
    if rater.project.wants_event(Event.Kind.RATER_SUSPENDED):
        data = {"rater": rater_data(rater), "by_checks": by_checks}
        record_event(rater.project, Event.Kind.RATER_SUSPENDED, data)


def rater_data(rater: Rater) -> dict[str, Any]:
    """Return how events name a rater. `username` is None without an account."""
    username = rater.user.get_username() if rater.user else None
    return {"id": rater.pk, "pseudonym": rater.pseudonym, "username": username}
