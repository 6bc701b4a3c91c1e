"""Addresses of the API's projects, labels and exports."""

from django.urls import path

from annotation.audit import api as audit
from annotation.exports import api as exports
from annotation.projects import api

urlpatterns = [
    path("projects/", api.project_list, name="api_projects"),
    path("projects/<slug:slug>/", api.project_detail, name="api_project"),
    path("projects/<slug:slug>/labels/", api.label_list, name="api_labels"),
    path("projects/<slug:slug>/exports/", exports.export_list, name="api_exports"),
    path("projects/<slug:slug>/exports/<slug:format_name>/", exports.export_detail, name="api_export"),
    path("projects/<slug:slug>/audit-log/", audit.audit_log, name="api_audit_log"),
]
