"""The queues that have a running worker. Workers sign a table, since not every broker can tell."""

from collections.abc import Collection
from datetime import timedelta

from django.utils import timezone

from scoring.models import Worker

SIGN_EVERY_S = 20.0
GONE_AFTER_S = 3 * SIGN_EVERY_S


def sign(name: str, queues: Collection[str]) -> None:
    """Record that the worker `name` is running and serves `queues`."""
    Worker.objects.update_or_create(name=name, defaults={"queues": sorted(queues), "seen_at": timezone.now()})
    Worker.objects.filter(seen_at__lt=timezone.now() - timedelta(days=1)).delete()


def sign_off(name: str) -> None:
    Worker.objects.filter(name=name).delete()


def is_served(queue: str) -> bool:
    """Return whether a worker of the queue has signed within the last GONE_AFTER_S seconds."""
    present = Worker.objects.filter(seen_at__gte=timezone.now() - timedelta(seconds=GONE_AFTER_S))
    return any(queue in queues for queues in present.values_list("queues", flat=True))
