"""Addresses of the pages with results."""

from django.urls import path

from metaeval import views

urlpatterns = [
    path("projects/<slug:slug>/agreement/", views.agreement, name="agreement"),
    path("projects/<slug:slug>/agreement/agreement.csv", views.agreement_csv, name="agreement_csv"),
    path("projects/<slug:slug>/meta-evaluation/", views.metaeval, name="metaeval"),
    path("projects/<slug:slug>/meta-evaluation/table.csv", views.metaeval_csv, name="metaeval_csv"),
    path("projects/<slug:slug>/meta-evaluation/levels.csv", views.levels_csv, name="levels_csv"),
    path("projects/<slug:slug>/meta-evaluation/systems.csv", views.systems_csv, name="systems_csv"),
]
