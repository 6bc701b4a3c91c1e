"""Addresses of the evaluators' pages."""

from django.urls import path

from scoring.views import runs

urlpatterns = [
    path("projects/<slug:slug>/runs/", runs.runs, name="runs"),
    path("projects/<slug:slug>/runs/new/", runs.run_new, name="run_new"),
    path("projects/<slug:slug>/runs/probes/<int:probe_id>/", runs.run_probe, name="run_probe"),
    path("projects/<slug:slug>/runs/<int:run_id>/", runs.run, name="run"),
    path("projects/<slug:slug>/runs/<int:run_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("projects/<slug:slug>/runs/<int:run_id>/resume/", runs.run_resume, name="run_resume"),
    path("projects/<slug:slug>/runs/<int:run_id>/delete/", runs.run_delete, name="run_delete"),
    path("projects/<slug:slug>/runs/<int:run_id>/scores.csv", runs.run_scores, name="run_scores"),
]
