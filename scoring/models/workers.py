"""Running workers."""

from django.db import models


class Worker(models.Model):
    """A worker that regularly reports that it is running, and the queues it serves."""

    name = models.CharField(max_length=200, unique=True)
    queues = models.JSONField(default=list)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
