"""Addresses of the API's projects and labels."""

from django.urls import path

from annotation.projects import api

urlpatterns = [
    path("projects/", api.project_list, name="api_projects"),
    path("projects/<slug:slug>/", api.project_detail, name="api_project"),
    path("projects/<slug:slug>/labels/", api.label_list, name="api_labels"),
]
