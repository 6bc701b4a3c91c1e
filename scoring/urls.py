"""Addresses of the evaluators' pages."""

from django.urls import path

from scoring.views import dimensions, endpoints, runs

urlpatterns = [
    path("projects/<slug:slug>/runs/", runs.runs, name="runs"),
    path("projects/<slug:slug>/runs/new/", runs.run_new, name="run_new"),
    path("projects/<slug:slug>/runs/probes/<int:probe_id>/", runs.run_probe, name="run_probe"),
    path("projects/<slug:slug>/runs/<int:run_id>/", runs.run, name="run"),
    path("projects/<slug:slug>/runs/<int:run_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("projects/<slug:slug>/runs/<int:run_id>/resume/", runs.run_resume, name="run_resume"),
    path("projects/<slug:slug>/runs/<int:run_id>/budget/", runs.run_budget, name="run_budget"),
    path("projects/<slug:slug>/runs/<int:run_id>/delete/", runs.run_delete, name="run_delete"),
    path("projects/<slug:slug>/runs/<int:run_id>/scores.csv", runs.run_scores, name="run_scores"),
    path("projects/<slug:slug>/dimensions/", dimensions.dimensions, name="dimensions"),
    path("projects/<slug:slug>/dimensions/<int:dimension_id>/", dimensions.dimension, name="dimension"),
    path(
        "projects/<slug:slug>/dimensions/<int:dimension_id>/remove/",
        dimensions.dimension_remove,
        name="dimension_remove",
    ),
    path("projects/<slug:slug>/endpoints/", endpoints.endpoints, name="endpoints"),
    path("projects/<slug:slug>/endpoints/<int:endpoint_id>/", endpoints.endpoint, name="endpoint"),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/limits/",
        endpoints.endpoint_limits,
        name="endpoint_limits",
    ),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/prices/",
        endpoints.endpoint_prices,
        name="endpoint_prices",
    ),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/key/", endpoints.endpoint_key, name="endpoint_key"
    ),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/key/remove/",
        endpoints.endpoint_key_remove,
        name="endpoint_key_remove",
    ),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/remove/",
        endpoints.endpoint_remove,
        name="endpoint_remove",
    ),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/models/",
        endpoints.endpoint_model_new,
        name="endpoint_model_new",
    ),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/models/<int:model_id>/check/",
        endpoints.endpoint_model_check,
        name="endpoint_model_check",
    ),
    path(
        "projects/<slug:slug>/endpoints/<int:endpoint_id>/models/<int:model_id>/remove/",
        endpoints.endpoint_model_remove,
        name="endpoint_model_remove",
    ),
]
