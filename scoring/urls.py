"""Addresses of the evaluators' pages and of webhooks."""

from django.urls import URLPattern, URLResolver, include, path

from scoring.dimensions import views as dimensions
from scoring.endpoints import views as endpoints
from scoring.runs import views as runs
from scoring.webhooks import views as webhooks

_run = [
    path("", runs.run, name="run"),
    path("cancel/", runs.run_cancel, name="run_cancel"),
    path("resume/", runs.run_resume, name="run_resume"),
    path("budget/", runs.run_budget, name="run_budget"),
    path("delete/", runs.run_delete, name="run_delete"),
    path("scores.csv", runs.run_scores, name="run_scores"),
]
_endpoint = [
    path("", endpoints.endpoint, name="endpoint"),
    path("limits/", endpoints.endpoint_limits, name="endpoint_limits"),
    path("prices/", endpoints.endpoint_prices, name="endpoint_prices"),
    path("key/", endpoints.endpoint_key, name="endpoint_key"),
    path("key/remove/", endpoints.endpoint_key_remove, name="endpoint_key_remove"),
    path("remove/", endpoints.endpoint_remove, name="endpoint_remove"),
    path("models/", endpoints.endpoint_model_new, name="endpoint_model_new"),
    path("models/<int:model_id>/check/", endpoints.endpoint_model_check, name="endpoint_model_check"),
    path("models/<int:model_id>/remove/", endpoints.endpoint_model_remove, name="endpoint_model_remove"),
]
_webhook = [
    path("", webhooks.webhook, name="webhook"),
    path("test/", webhooks.webhook_test, name="webhook_test"),
    path("delete/", webhooks.webhook_delete, name="webhook_delete"),
    path("deliveries/<int:delivery_id>/again/", webhooks.webhook_send_again, name="webhook_send_again"),
]
_project: list[URLPattern | URLResolver] = [
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", runs.run_new, name="run_new"),
    path("runs/probes/<int:probe_id>/", runs.run_probe, name="run_probe"),
    path("runs/<int:run_id>/", include(_run)),
    path("dimensions/", dimensions.dimensions, name="dimensions"),
    path("dimensions/<int:dimension_id>/", dimensions.dimension, name="dimension"),
    path("dimensions/<int:dimension_id>/remove/", dimensions.dimension_remove, name="dimension_remove"),
    path("endpoints/", endpoints.endpoints, name="endpoints"),
    path("endpoints/<int:endpoint_id>/", include(_endpoint)),
    path("settings/webhooks/", webhooks.webhooks, name="webhooks"),
    path("settings/webhooks/<int:webhook_id>/", include(_webhook)),
]
urlpatterns = [path("projects/<slug:slug>/", include(_project))]
