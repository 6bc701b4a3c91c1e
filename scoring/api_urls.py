"""Addresses of the API's runs, scores and experiments."""

from django.urls import path

from scoring.experiments.api import experiment_list
from scoring.learning_curves.api import learning_curve_list
from scoring.runs import api as runs

urlpatterns = [
    path("projects/<slug:slug>/runs/", runs.run_list, name="api_runs"),
    path("projects/<slug:slug>/runs/<int:run_id>/", runs.run_detail, name="api_run"),
    path("projects/<slug:slug>/scores/", runs.score_list, name="api_scores"),
    path("projects/<slug:slug>/experiments/", experiment_list, name="api_experiments"),
    path("projects/<slug:slug>/learning-curves/", learning_curve_list, name="api_learning_curves"),
]
