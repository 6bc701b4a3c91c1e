"""Counts of the web server's requests, which its processes add up in files of one folder.

Without the folder each process would know only its own requests, and tell them in turn. Then nothing is
counted.
"""

import os

from prometheus_client import CollectorRegistry, Counter, Histogram

IS_COUNTED = "PROMETHEUS_MULTIPROC_DIR" in os.environ
"""prometheus_client, too, reads it when it is imported."""
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
"""Seconds."""

OWN = CollectorRegistry()
"""The requests of this process alone, which are not published."""
REQUESTS = Counter(
    "touchstone_requests",
    "Requests answered, by method, class of status and name of the view.",
    ["method", "status", "view"],
    registry=OWN,
)
SECONDS = Histogram(
    "touchstone_request_seconds",
    "Time until an answer began, by name of the view.",
    ["view"],
    buckets=BUCKETS,
    registry=OWN,
)


def count(method: str, status: int, view: str, seconds: float) -> None:
    """Count one request. `view` is empty for static files and unknown addresses."""
    # Strangers choose the method, and each new one would be kept.
    REQUESTS.labels(method if method in METHODS else "other", f"{status // 100}xx", view).inc()
    SECONDS.labels(view).observe(seconds)
