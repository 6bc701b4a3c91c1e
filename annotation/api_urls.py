"""Addresses of the API's projects, labels and exports, and of rating by the API."""

from django.urls import path

from annotation.audit import api as audit
from annotation.exports import api as exports
from annotation.guidelines import api as guidelines
from annotation.imports import api as imports
from annotation.people import api as people
from annotation.projects import api
from annotation.rating import api as rating

urlpatterns = [
    path("projects/", api.project_list, name="api_projects"),
    path("projects/<slug:slug>/", api.project_detail, name="api_project"),
    path("projects/<slug:slug>/labels/", api.label_list, name="api_labels"),
    path("projects/<slug:slug>/exports/", exports.export_list, name="api_exports"),
    path("projects/<slug:slug>/exports/<slug:format_name>/", exports.export_detail, name="api_export"),
    path("projects/<slug:slug>/audit-log/", audit.audit_log, name="api_audit_log"),
    path("projects/<slug:slug>/imports/", imports.import_new, name="api_imports"),
    path("projects/<slug:slug>/imports/<int:job_id>/", imports.import_detail, name="api_import"),
    path("projects/<slug:slug>/raters/", people.rater_new, name="api_raters"),
    path("projects/<slug:slug>/invitations/", people.invitation_list, name="api_invitations"),
    path(
        "projects/<slug:slug>/invitations/<int:invitation_id>/",
        people.invitation_detail,
        name="api_invitation",
    ),
    path("projects/<slug:slug>/rating/guidelines/", guidelines.guidelines, name="api_guidelines"),
    path("projects/<slug:slug>/rating/rounds/", rating.round_new, name="api_rounds"),
    path("projects/<slug:slug>/rating/next/", rating.next_item, name="api_rating_next"),
    path("projects/<slug:slug>/rating/<int:assignment_id>/", rating.open_item, name="api_rating"),
    path(
        "projects/<slug:slug>/rating/<int:assignment_id>/stages/<int:stage>/",
        rating.submit,
        name="api_rating_stage",
    ),
    path("projects/<slug:slug>/rating/<int:assignment_id>/skip/", rating.skip, name="api_rating_skip"),
]
