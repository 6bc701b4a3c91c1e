"""The health check: whether this process reaches its database and its broker."""

from celery import current_app
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

BROKER_TIMEOUT_S = 2


@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - a view gets the request
    """Respond with 200 and the states {"database": "ok", "broker": "ok"}, or 503 if one is 'unreachable'."""
    report = {"database": database_state(), "broker": broker_state()}
    healthy = all(state == "ok" for state in report.values())
    return JsonResponse(report, status=200 if healthy else 503)


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
