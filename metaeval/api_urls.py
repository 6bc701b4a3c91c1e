"""Addresses of the API's agreement and meta-evaluation."""

from django.urls import path

from metaeval import api, api_judges, api_steadiness

urlpatterns = [
    path("projects/<slug:slug>/agreement/", api.agreement, name="api_agreement"),
    path("projects/<slug:slug>/meta-evaluation/", api.metaeval, name="api_metaeval"),
    path("projects/<slug:slug>/evaluator-card/", api.evaluator_card, name="api_evaluator_card"),
    path("projects/<slug:slug>/judges/", api_judges.judge_list, name="api_judges"),
    path("projects/<slug:slug>/judges/<int:judge_id>/", api_judges.judge_trials, name="api_judge"),
    path("projects/<slug:slug>/reaskings/", api_steadiness.reasking_list, name="api_reaskings"),
]
