"""Addresses of the evaluators' pages."""

from django.urls import path

from scoring import views

urlpatterns = [
    path("projects/<slug:slug>/runs/", views.runs, name="runs"),
    path("projects/<slug:slug>/runs/new/", views.run_new, name="run_new"),
    path("projects/<slug:slug>/runs/probes/<int:probe_id>/", views.run_probe, name="run_probe"),
    path("projects/<slug:slug>/runs/<int:run_id>/", views.run, name="run"),
    path("projects/<slug:slug>/runs/<int:run_id>/cancel/", views.run_cancel, name="run_cancel"),
    path("projects/<slug:slug>/runs/<int:run_id>/resume/", views.run_resume, name="run_resume"),
    path("projects/<slug:slug>/runs/<int:run_id>/delete/", views.run_delete, name="run_delete"),
    path("projects/<slug:slug>/runs/<int:run_id>/scores.csv", views.run_scores, name="run_scores"),
]
