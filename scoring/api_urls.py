"""Addresses of the API's runs and scores."""

from django.urls import path

from scoring.runs import api as runs

urlpatterns = [
    path("projects/<slug:slug>/runs/", runs.run_list, name="api_runs"),
    path("projects/<slug:slug>/runs/<int:run_id>/", runs.run_detail, name="api_run"),
    path("projects/<slug:slug>/scores/", runs.score_list, name="api_scores"),
]
