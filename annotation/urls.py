"""Addresses of the rater's and the manager's pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from annotation.views import (
    entry,
    gold,
    gold_set,
    history,
    home,
    imports,
    people,
    progress,
    projects,
    publishing,
    questionnaires,
    rating,
    summaries,
)

urlpatterns = [
    # the way in
    path("sign-in/", entry.sign_in, name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("invitations/<str:token>/", entry.invitation, name="invitation"),
    path("account/", entry.account, name="account"),
    path("account/tokens/", entry.token_new, name="token_new"),
    path("account/tokens/<int:token_id>/delete/", entry.token_delete, name="token_delete"),
    path("account/password/", entry.password, name="password"),
    # the rater's pages
    path("projects/<slug:slug>/rate/", rating.rate, name="rate"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/", rating.rate_item, name="rate_item"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/draft/", rating.rate_draft, name="rate_draft"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/flag/", rating.rate_flag, name="rate_flag"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/skip/", rating.rate_skip, name="rate_skip"),
    path("projects/<slug:slug>/rounds/", gold.round_start, name="round_start"),
    path("projects/<slug:slug>/rounds/<int:number>/", gold.round_review, name="round_review"),
    path("projects/<slug:slug>/history/", history.history, name="history"),
    path("projects/<slug:slug>/history/<int:rating_id>/", history.history_rating, name="history_rating"),
    path(
        "projects/<slug:slug>/history/<int:rating_id>/<slug:question_key>/",
        history.history_correct,
        name="history_correct",
    ),
    # the manager's pages
    path("", home.home, name="home"),
    path("projects/new/", projects.project_new, name="project_new"),
    path("questionnaires/new/", questionnaires.questionnaire_new, name="questionnaire_new"),
    path("projects/<slug:slug>/", progress.progress, name="progress"),
    path("projects/<slug:slug>/settings/", projects.project_settings, name="project_settings"),
    path("projects/<slug:slug>/settings/publish/", publishing.results_publish, name="results_publish"),
    path("projects/<slug:slug>/settings/unpublish/", publishing.results_unpublish, name="results_unpublish"),
    path("projects/<slug:slug>/summaries/", summaries.summaries, name="summaries"),
    path("projects/<slug:slug>/summaries/<int:summary_id>/", summaries.summary, name="summary"),
    path("projects/<slug:slug>/summaries/<int:summary_id>/gold/", gold_set.gold_answers, name="gold_answers"),
    path(
        "projects/<slug:slug>/summaries/<int:summary_id>/gold/remove/",
        gold_set.gold_remove,
        name="gold_remove",
    ),
    path(
        "projects/<slug:slug>/summaries/<int:summary_id>/gold/restore/",
        gold_set.gold_restore,
        name="gold_restore",
    ),
    path("projects/<slug:slug>/imports/", imports.imports, name="imports"),
    path("projects/<slug:slug>/imports/<int:job_id>/", imports.import_job, name="import_job"),
    path("projects/<slug:slug>/imports/<int:job_id>/errors.csv", imports.import_errors, name="import_errors"),
    path(
        "projects/<slug:slug>/imports/<int:job_id>/rejected.jsonl",
        imports.import_rejects,
        name="import_rejects",
    ),
    path("projects/<slug:slug>/imports/<int:job_id>/load/", imports.import_load, name="import_load"),
    path("projects/<slug:slug>/people/", people.people, name="people"),
    path(
        "projects/<slug:slug>/people/invitations/<int:invitation_id>/revoke/",
        people.invitation_revoke,
        name="invitation_revoke",
    ),
    path(
        "projects/<slug:slug>/people/members/<int:membership_id>/remove/",
        people.member_remove,
        name="member_remove",
    ),
    path(
        "projects/<slug:slug>/people/raters/<int:rater_id>/qualify/",
        people.rater_qualify,
        name="rater_qualify",
    ),
    path(
        "projects/<slug:slug>/people/raters/<int:rater_id>/suspend/",
        people.rater_suspend,
        name="rater_suspend",
    ),
    path(
        "projects/<slug:slug>/people/raters/<int:rater_id>/remove/", people.rater_remove, name="rater_remove"
    ),
    path(
        "projects/<slug:slug>/people/raters/<int:rater_id>/reinstate/",
        people.rater_reinstate,
        name="rater_reinstate",
    ),
]
