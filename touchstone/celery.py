"""The Celery application. Tasks are in each app's tasks.py."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "touchstone.settings")
# The checks import every page, which doubles a worker's start and memory; manage.py makes them, too.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

TRANSPORT_ALIASES["sqlite"] = "touchstone.sqlite_broker:Transport"
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "touchstone.redis_broker:RedisTransport"

app = Celery("touchstone")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
