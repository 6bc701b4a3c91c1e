"""The health check: whether this process reaches its database and its broker."""

from celery import current_app
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import add_never_cache_headers
from django.utils.deprecation import MiddlewareMixin

ADDRESS = "/healthz"
BROKER_TIMEOUT_S = 2


class HealthMiddleware(MiddlewareMixin):
    """Must come first: load balancers ask by IP address and without TLS, which later middleware refuses."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        return healthz() if request.path_info == ADDRESS else None


def healthz() -> HttpResponse:
    """Respond with 200 and the states {"database": "ok", "broker": "ok"}, or 503 if one is 'unreachable'."""
    report = {"database": database_state(), "broker": broker_state()}
    healthy = all(state == "ok" for state in report.values())
    response = JsonResponse(report, status=200 if healthy else 503)
    add_never_cache_headers(response)
    return response


def database_state() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "unreachable"
    return "ok"


def broker_state() -> str:
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_TIMEOUT_S) as broker:
            # Some transports only touch the broker when a queue is declared.
            current_app.amqp.queues[current_app.conf.task_default_queue](broker.channel()).declare()
    except Exception:  # brokers raise errors of many libraries
        return "unreachable"
    return "ok"
