"""Addresses of the API's agreement and meta-evaluation."""

from django.urls import path

from metaeval import api

urlpatterns = [
    path("projects/<slug:slug>/agreement/", api.agreement, name="api_agreement"),
    path("projects/<slug:slug>/meta-evaluation/", api.metaeval, name="api_metaeval"),
    path("projects/<slug:slug>/evaluator-card/", api.evaluator_card, name="api_evaluator_card"),
]
