"""Addresses of the API's runs and scores."""

from django.urls import path

from scoring import api, api_families

urlpatterns = [
    path("projects/<slug:slug>/runs/", api.run_list, name="api_runs"),
    path("projects/<slug:slug>/runs/<int:run_id>/", api.run_detail, name="api_run"),
    path("projects/<slug:slug>/scores/", api.score_list, name="api_scores"),
    path("projects/<slug:slug>/experiments/", api_families.family_list, name="api_experiments"),
]
