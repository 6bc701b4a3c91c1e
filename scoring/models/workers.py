"""Workers that are there."""

from django.db import models


class Worker(models.Model):
    """A worker that says from time to time that it is there, and which queues it serves."""

    name = models.CharField(max_length=200, unique=True)
    queues = models.JSONField(default=list)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
