"""Work that is leased to one worker at a time, and survives the death of any worker."""

import uuid
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

_Work = TypeVar("_Work", bound="Leased", covariant=True)

CANDIDATES = 16
"""Rows read at once. Other workers may claim some of them first."""


class LeaseLost(Exception):
    """The work was cancelled or deleted, or another worker has it."""


class LeasedQuerySet(models.QuerySet[_Work]):
    def unfinished(self) -> Self:
        return self.filter(finished_at__isnull=True)

    def claimable(self, now: datetime | None = None) -> Self:
        """Return unfinished and due work that no worker holds, or whose lease has expired.

        The filter reads only the row's own columns, so that an UPDATE with it checks again a row that another
        worker has just changed.
        """
        return self.unfinished().filter(free_and_due(now or timezone.now()))

    def claim(self, now: datetime | None = None, **changes: object) -> _Work | None:
        """Lease the first claimable row to the caller and return it; None if there is none.

        A conditional UPDATE decides between workers, so no lock is held during the work.
        """
        now = now or timezone.now()
        while candidates := list(self.claimable(now).values_list("pk", flat=True)[:CANDIDATES]):
            for pk in candidates:
                lease: dict[str, Any] = {"token": str(uuid.uuid4()), "leased_until": lease_end(now)}
                row = type(self)(self.model).filter(pk=pk)
                if row.claimable(now).update(**lease, attempts=F("attempts") + 1, **changes):
                    return self.filter(pk=pk, token=lease["token"]).first()
        return None


class Leased(models.Model):
    """A piece of work that one worker holds until it is released or finished, or its lease expires.

    The methods change nothing and return False if the worker has lost its lease.
    """

    token = models.CharField(max_length=36, blank=True, help_text="Token of the present lease.")
    leased_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="Time from which it may be claimed again."
    )
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Leases so far.")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_unfinished(self) -> bool:
        return self.finished_at is None

    @property
    def held(self) -> models.QuerySet[Any]:
        """A queryset of this row, empty once its lease is lost."""
        return type(self)._default_manager.filter(
            pk=self.pk, token=self.token, leased_until__isnull=False, finished_at__isnull=True
        )

    def renew(self, seconds: float | None = None, **changes: object) -> bool:
        """Hold the work for `seconds` from now, by default settings.CLAIM_LEASE_S."""
        return bool(self.held.update(leased_until=lease_end(timezone.now(), seconds), **changes))

    def release(self, delay_s: float = 0, **changes: object) -> bool:
        """Give the work back, to be claimed again after `delay_s` seconds."""
        not_before = timezone.now() + timedelta(seconds=delay_s)
        return bool(self.held.update(token="", leased_until=None, not_before=not_before, **changes))

    def finish(self, **changes: object) -> bool:
        """Record that nothing is left to do."""
        return bool(self.held.update(token="", leased_until=None, finished_at=timezone.now(), **changes))


def free_and_due(now: datetime) -> Q:
    """Return the condition that no worker holds a piece of work, and that it may be claimed."""
    free = Q(leased_until__isnull=True) | Q(leased_until__lt=now)
    due = Q(not_before__isnull=True) | Q(not_before__lte=now)
    return free & due


def lease_end(now: datetime, seconds: float | None = None) -> datetime:
    return now + timedelta(seconds=settings.CLAIM_LEASE_S if seconds is None else seconds)
