"""Addresses of the API's runs, scores and webhooks."""

from django.urls import path

from scoring.runs import api as runs
from scoring.webhooks import api as webhooks

urlpatterns = [
    path("projects/<slug:slug>/runs/", runs.run_list, name="api_runs"),
    path("projects/<slug:slug>/runs/<int:run_id>/", runs.run_detail, name="api_run"),
    path("projects/<slug:slug>/runs/<int:run_id>/cancel/", runs.run_cancel, name="api_run_cancel"),
    path("projects/<slug:slug>/scores/", runs.score_list, name="api_scores"),
    path("projects/<slug:slug>/webhooks/", webhooks.webhook_list, name="api_webhooks"),
    path("projects/<slug:slug>/webhooks/<int:webhook_id>/", webhooks.webhook_detail, name="api_webhook"),
    path(
        "projects/<slug:slug>/webhooks/<int:webhook_id>/deliveries/",
        webhooks.delivery_list,
        name="api_webhook_deliveries",
    ),
]
