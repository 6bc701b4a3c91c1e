"""The address /metrics, and the counting of all other requests."""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import constant_time_compare
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

from scoring.metrics.requests import IS_COUNTED, count
from scoring.metrics.state import State

PATH = "/metrics"


class MetricsMiddleware:
    """Answers whoever has the token, under any host name and without TLS, as Prometheus asks.

    The settings leave it out if METRICS_TOKEN is empty.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response
        self._state = State()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == PATH:
            return self._metrics(request)
        if not IS_COUNTED:
            return self._get_response(request)
        begun = time.perf_counter()
        response = self._get_response(request)
        match = request.resolver_match
        view = match.view_name if match else ""
        count(request.method or "", response.status_code, view, time.perf_counter() - begun)
        return response

    def _metrics(self, request: HttpRequest) -> HttpResponse:
        if not constant_time_compare(
            request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"
        ):
            return HttpResponse(
                "Send METRICS_TOKEN as a bearer token.\n",
                status=401,
                content_type="text/plain",
                headers={"WWW-Authenticate": "Bearer"},
            )
        registry = CollectorRegistry()
        registry.register(self._state)
        if IS_COUNTED:
            MultiProcessCollector(registry)
        response = HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
        add_never_cache_headers(response)
        return response
