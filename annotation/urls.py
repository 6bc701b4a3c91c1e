"""Addresses of the rater's and the manager's pages."""

from collections.abc import Callable

from django.http.response import HttpResponseBase
from django.urls import path

from annotation.audit import views as audit
from annotation.contradictions import views as contradictions
from annotation.correspondence import views as correspondence
from annotation.demo.views import demo_enter
from annotation.exports import views as exports
from annotation.gold import qualification_views as qualification
from annotation.gold import views as gold_set
from annotation.guidelines import reading_views
from annotation.guidelines import views as guidelines
from annotation.home.views import home
from annotation.imports import views as imports
from annotation.interface_language.middleware import translated
from annotation.interface_language.views import interface_language
from annotation.people import account_views, password_views, single_sign_on_views, two_factor_views
from annotation.people import views as people
from annotation.progress import views as progress
from annotation.projects import archive_views, closing_views
from annotation.projects import views as projects
from annotation.rating import check_views, history_views, language_views, round_views, voiding_views
from annotation.rating import views as rating
from annotation.set_up import views as set_up
from annotation.summaries import flag_views
from annotation.summaries import views as summaries

Page = tuple[str, Callable[..., HttpResponseBase], str]
RATER_PAGES: list[Page] = [
    ("rate/", rating.rate, "rate"),
    ("rate/languages/", language_views.rate_languages, "rate_languages"),
    ("rate/stop/", people.rating_stop, "rating_stop"),
    ("rate/<int:assignment_id>/", rating.rate_item, "rate_item"),
    ("rate/<int:assignment_id>/draft/", rating.rate_draft, "rate_draft"),
    ("rate/<int:assignment_id>/flag/", rating.rate_flag, "rate_flag"),
    ("rate/<int:assignment_id>/skip/", rating.rate_skip, "rate_skip"),
    ("rate/<int:assignment_id>/keep/", rating.rate_keep, "rate_keep"),
    ("rate/<int:assignment_id>/undo/<int:rating_id>/", rating.rate_undo, "rate_undo"),
    ("rounds/", round_views.round_start, "round_start"),
    ("rounds/<int:number>/", round_views.round_review, "round_review"),
    ("checks/<int:rating_id>/", check_views.check_review, "check_review"),
    ("history/", history_views.history, "history"),
    ("history/<int:rating_id>/", history_views.history_rating, "history_rating"),
    ("history/<int:rating_id>/reopen/", history_views.history_reopen, "history_reopen"),
    ("history/<int:rating_id>/<slug:question_key>/", history_views.history_correct, "history_correct"),
    ("messages/", correspondence.own_messages, "own_messages"),
    ("guidelines/", reading_views.guidelines, "guidelines"),
]
"""Addresses below a project's own, with their names. These pages are in the reader's language."""
MANAGER_PAGES: list[Page] = [
    ("", progress.progress, "progress"),
    ("set-up/", set_up.set_up, "set_up"),
    ("set-up/preview/", set_up.set_up_preview, "set_up_preview"),
    ("settings/", projects.project_settings, "project_settings"),
    ("archive/", archive_views.project_archived, "project_archived"),
    ("archive/restore/", archive_views.project_restore, "project_restore"),
    ("archive/delete/", archive_views.project_delete, "project_delete"),
    ("settings/archive/", archive_views.project_archive, "project_archive"),
    ("settings/close/", closing_views.campaign_close, "campaign_close"),
    ("settings/reopen/", closing_views.campaign_reopen, "campaign_reopen"),
    ("settings/publish/", projects.results_publish, "results_publish"),
    ("settings/unpublish/", projects.results_unpublish, "results_unpublish"),
    ("settings/guidelines/", guidelines.guidelines_settings, "guidelines_settings"),
    ("settings/guidelines/default/", guidelines.guidelines_default, "guidelines_default"),
    ("settings/guidelines/<slug:language>/", guidelines.guidelines_draft, "guidelines_draft"),
    ("settings/guidelines/<slug:language>/publish/", guidelines.guidelines_publish, "guidelines_publish"),
    ("settings/guidelines/<slug:language>/discard/", guidelines.guidelines_discard, "guidelines_discard"),
    ("guidelines/<slug:language>/<int:number>/", guidelines.guidelines_version, "guidelines_version"),
    ("summaries/", summaries.summaries, "summaries"),
    ("summaries/<int:summary_id>/", summaries.summary, "summary"),
    ("gold/", gold_set.gold_set, "gold_set"),
    ("summaries/<int:summary_id>/gold/", gold_set.gold_answers, "gold_answers"),
    ("summaries/<int:summary_id>/gold/remove/", gold_set.gold_remove, "gold_remove"),
    ("summaries/<int:summary_id>/gold/restore/", gold_set.gold_restore, "gold_restore"),
    ("summaries/<int:summary_id>/withdraw/", summaries.summary_withdraw, "summary_withdraw"),
    ("summaries/<int:summary_id>/restore/", summaries.summary_restore, "summary_restore"),
    ("flags/", flag_views.flags, "flags"),
    ("flags/<int:flag_id>/resolve/", flag_views.flag_resolve, "flag_resolve"),
    ("flags/<int:flag_id>/reopen/", flag_views.flag_reopen, "flag_reopen"),
    ("summaries/ratings/<int:rating_id>/void/", voiding_views.rating_void, "rating_void"),
    ("summaries/ratings/<int:rating_id>/restore/", voiding_views.rating_restore, "rating_restore"),
    ("imports/", imports.imports, "imports"),
    ("imports/<int:job_id>/", imports.import_job, "import_job"),
    ("imports/<int:job_id>/errors.csv", imports.import_errors, "import_errors"),
    ("imports/<int:job_id>/rejected.jsonl", imports.import_rejects, "import_rejects"),
    ("imports/<int:job_id>/columns/", imports.import_columns, "import_columns"),
    ("imports/<int:job_id>/load/", imports.import_load, "import_load"),
    ("imports/<int:job_id>/cancel/", imports.import_cancel, "import_cancel"),
    ("imports/<int:job_id>/undo/", imports.import_undo, "import_undo"),
    ("contradictions/", contradictions.contradictions, "contradictions"),
    ("exports/", exports.exports, "exports"),
    ("exports/<slug:format_name>/", exports.export_file, "export_file"),
    ("audit-log/", audit.audit_log, "audit_log"),
    ("audit-log/entries.csv", audit.audit_log_csv, "audit_log_csv"),
    ("people/", people.people, "people"),
    ("people/invitations/", people.invitations, "invitations"),
    ("people/invitations/<int:invitation_id>/revoke/", people.invitation_revoke, "invitation_revoke"),
    ("people/members/<int:membership_id>/remove/", people.member_remove, "member_remove"),
    ("people/accounts/<int:user_id>/password-link/", password_views.password_link, "password_link"),
    ("people/messages/", correspondence.messages_to_all, "messages_to_all"),
    ("people/raters/<int:rater_id>/messages/", correspondence.rater_messages, "rater_messages"),
    ("people/raters/<int:rater_id>/languages/", people.rater_languages, "rater_languages"),
    ("people/raters/<int:rater_id>/qualification/", qualification.rater_qualification, "rater_qualification"),
    ("people/raters/<int:rater_id>/qualify/", qualification.rater_qualify, "rater_qualify"),
    ("people/raters/<int:rater_id>/another-round/", qualification.rater_allow_round, "rater_allow_round"),
    ("people/raters/<int:rater_id>/unqualify/", qualification.rater_unqualify, "rater_unqualify"),
    ("people/raters/<int:rater_id>/suspend/", people.rater_suspend, "rater_suspend"),
    ("people/raters/<int:rater_id>/remove/", people.rater_remove, "rater_remove"),
    ("people/raters/<int:rater_id>/reinstate/", people.rater_reinstate, "rater_reinstate"),
]
"""Addresses below a project's own, with their names. These pages are in English."""
OWN_PAGES: list[Page] = [
    ("", home, "home"),
    ("language/", interface_language, "interface_language"),
    ("demo/", demo_enter, "demo_enter"),
    ("sign-in/", account_views.sign_in, "sign_in"),
    ("sign-in/code/", two_factor_views.sign_in_code, "sign_in_code"),
    ("sign-in/oidc/", single_sign_on_views.oidc_start, "oidc_start"),
    ("sign-in/oidc/return/", single_sign_on_views.oidc_return, "oidc_return"),
    ("sign-out/", account_views.sign_out, "sign_out"),
    ("invitations/<str:token>/", account_views.invitation, "invitation"),
    ("account/", account_views.account, "account"),
    ("account/tokens/", account_views.token_new, "token_new"),
    ("account/tokens/<int:token_id>/delete/", account_views.token_delete, "token_delete"),
    ("account/sessions/end/", account_views.sessions_end, "sessions_end"),
    ("account/sessions/<slug:session_id>/end/", account_views.session_end, "session_end"),
    ("account/password/", account_views.password, "password"),
    ("account/email/", account_views.email, "email"),
    ("account/two-factor/", two_factor_views.two_factor, "two_factor"),
    ("account/two-factor/codes/", two_factor_views.recovery_codes_new, "recovery_codes_new"),
    ("account/two-factor/off/", two_factor_views.two_factor_off, "two_factor_off"),
    ("password/forgotten/", password_views.password_forgotten, "password_forgotten"),
    ("password/<str:uidb64>/<str:token>/", password_views.password_reset, "password_reset"),
]
"""Addresses of one's own account and of the way in, in the reader's language."""
urlpatterns = [
    *(path(route, translated(view), name=name) for route, view, name in OWN_PAGES),
    path("projects/new/", projects.project_new, name="project_new"),
    path("questionnaires/new/", projects.questionnaire_new, name="questionnaire_new"),
    *(
        path(f"projects/<slug:slug>/{route}", translated(view), name=name)
        for route, view, name in RATER_PAGES
    ),
    *(path(f"projects/<slug:slug>/{route}", view, name=name) for route, view, name in MANAGER_PAGES),
]
