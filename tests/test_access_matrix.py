"""Every address for every role: its status, no changes by refusals, and no leaks.

TABLE has the expected status; an address without a row fails the test.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from http.cookies import SimpleCookie
from itertools import product

import pytest
from django.contrib import admin
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import get_resolver, reverse
from django.utils import timezone

from annotation.models import ApiToken, Project
from annotation.people.api_tokens import issue_api_token
from metaeval.live import strangers
from tests.addresses import ARGUMENTS, address_of, has_object, patterns
from tests.campaigns import SCORE, Campaign, make_campaign
from tests.conftest import is_thorough
from tests.factories import make_user
from tests.kept_snapshots import kept_snapshots
from tests.scoring.training.counted_projects import make_trained_model

pytestmark = pytest.mark.django_db

ROLES = (
    "anonymous",
    "trainee",
    "annotator",
    "researcher",
    "manager",
    "removed",
    "stranger",  # manages another project
    "superuser",  # without a role in any project
)
LIKE = {"trainee": "annotator", "removed": "stranger", "superuser": "stranger"}
"""Role -> a role that nearly every address answers alike.

Thorough runs ask such an address as this role, too.
"""
# "in": sent to sign in. Numbers: HTTP status. POST sends FORMS[name].
TABLE = """
                          anonymous trainee annotator researcher manager removed stranger superuser
GET   favicon                   302     302       302        302     302     302      302       302
GET   home                       in     200       200        200     200     200      200       200
POST  demo_enter                403     403       403        403     403     403      403       403
GET   sign_in                   200     302       302        302     302     302      302       302
POST  sign_in                   200     302       302        302     302     302      302       302
GET   admin_sign_in              in     403       403        403     403     403      403        in
GET   sign_in_code               in     302       302        302     302     302      302       302
POST  sign_in_code               in     302       302        302     302     302      302       302
POST  oidc_start                404     404       404        404     404     404      404       404
GET   oidc_return               404     404       404        404     404     404      404       404
POST  sign_out                   in      in        in         in      in      in       in        in
POST  interface_language        302     302       302        302     302     302      302       302
GET   invitation                200     200       200        200     200     200      200       200
POST  invitation                422     302       302        302     302     403      302       302
GET   account                    in     200       200        200     200     200      200       200
POST  token_new                  in     200       200        200     200     200      200       200
POST  token_delete               in     404       404        404     302     404      404       404
POST  session_end                in     404       404        404     302     404      404       404
POST  sessions_end               in     302       302        302     302     302      302       302
POST  password                   in     422       422        422     422     422      422       422
POST  email                      in     422       422        422     422     422      422       422
GET   two_factor                 in     200       200        200     200     200      200       200
POST  two_factor                 in     422       422        422     422     422      422       422
POST  recovery_codes_new         in     422       422        422     422     422      422       422
POST  two_factor_off             in     422       422        422     422     422      422       422
GET   password_forgotten        200     200       200        200     200     200      200       200
POST  password_forgotten        200     200       200        200     200     200      200       200
GET   password_reset            200     200       200        200     200     200      200       200
POST  password_reset            200     200       200        200     200     200      200       200
GET   project_new                in     403       403        403     200     403      200       200
POST  project_new                in     403       403        403     302     403      302       302
GET   questionnaire_new          in     403       403        403     200     403      200       200
POST  questionnaire_new          in     403       403        403     422     403      422       422

GET   rate                       in     200       302        403     403     404      404       404
GET   rate_item                  in     409       200        403     403     404      404       404
POST  rate_item                  in     409       302        403     403     404      404       404
POST  rate_draft                 in     409       204        403     403     404      404       404
POST  rate_flag                  in     409       403        403     403     404      404       404
POST  rate_skip                  in     409       302        403     403     404      404       404
POST  rate_keep                  in     409       409        403     403     404      404       404
POST  rate_undo                  in     409       302        403     403     404      404       404
GET   rate_languages             in     200       200        403     403     404      404       404
POST  rate_languages             in     302       302        403     403     404      404       404
GET   rating_stop                in     404       404        403     403     404      404       404
POST  rating_stop                in     403       403        403     403     404      404       404
POST  round_start                in     302       403        403     403     404      404       404
GET   round_review               in     200       404        403     403     404      404       404
GET   check_review               in     404       200        403     403     404      404       404
GET   history                    in     200       200        403     403     404      404       404
GET   history_rating             in     404       200        403     403     404      404       404
POST  history_reopen             in     409       302        403     403     404      404       404
POST  history_correct            in     404       302        403     403     404      404       404
GET   own_messages               in     200       200        403     403     404      404       404
POST  own_messages               in     302       302        403     403     404      404       404
GET   guidelines                 in     200       200        403     403     404      404       404
POST  guidelines                 in     302       302        403     403     404      404       404

GET   progress                   in     403       403        200     200     404      404       404
GET   summaries                  in     403       403        200     200     404      404       404
GET   summary                    in     403       403        200     200     404      404       404
GET   gold_answers               in     403       403        403     200     404      404       404
POST  gold_answers               in     403       403        403     422     404      404       404
GET   gold_set                   in     403       403        403     200     404      404       404
GET   gold_remove                in     403       403        403     200     404      404       404
POST  gold_remove                in     403       403        403     302     404      404       404
POST  gold_restore               in     403       403        403     302     404      404       404
GET   summary_withdraw           in     403       403        403     200     404      404       404
POST  summary_withdraw           in     403       403        403     302     404      404       404
POST  summary_restore            in     403       403        403     302     404      404       404
GET   flags                      in     403       403        200     200     404      404       404
POST  flag_resolve               in     403       403        403     302     404      404       404
POST  flag_reopen                in     403       403        403     400     404      404       404
GET   rating_void                in     403       403        403     200     404      404       404
POST  rating_void                in     403       403        403     302     404      404       404
POST  rating_restore             in     403       403        403     400     404      404       404
GET   imports                    in     403       403        403     200     404      404       404
POST  imports                    in     403       403        403     422     404      404       404
GET   import_job                 in     403       403        403     200     404      404       404
GET   import_errors              in     403       403        403     200     404      404       404
GET   import_rejects             in     403       403        403     200     404      404       404
GET   import_columns             in     403       403        403     200     404      404       404
POST  import_columns             in     403       403        403     302     404      404       404
POST  import_load                in     403       403        403     302     404      404       404
POST  import_cancel              in     403       403        403     409     404      404       404
GET   import_undo                in     403       403        403     200     404      404       404
POST  import_undo                in     403       403        403     409     404      404       404
GET   exports                    in     403       403        200     200     404      404       404
GET   export_file                in     403       403        403     200     404      404       404
GET   set_up                     in     403       403        403     200     404      404       404
GET   set_up_preview             in     403       403        403     200     404      404       404
GET   project_settings           in     403       403        403     200     404      404       404
POST  project_settings           in     403       403        403     422     404      404       404
GET   priority                   in     403       403        403     200     404      404       404
POST  priority                   in     403       403        403     302     404      404       404
POST  priority_remove            in     403       403        403     302     404      404       404
GET   priority_csv               in     403       403        403     200     404      404       404
GET   guidelines_settings        in     403       403        403     200     404      404       404
POST  guidelines_settings        in     403       403        403     422     404      404       404
POST  guidelines_default         in     403       403        403     302     404      404       404
GET   guidelines_draft           in     403       403        403     200     404      404       404
POST  guidelines_draft           in     403       403        403     302     404      404       404
GET   guidelines_publish         in     403       403        403     200     404      404       404
POST  guidelines_publish         in     403       403        403     302     404      404       404
GET   guidelines_discard         in     403       403        403     200     404      404       404
POST  guidelines_discard         in     403       403        403     302     404      404       404
GET   guidelines_version         in     403       403        200     200     404      404       404
GET   project_archive            in     403       403        403     200     404      404       404
POST  project_archive            in     403       403        403     302     404      404       404
GET   project_archived           in     403       403        403     200     404      404       404
POST  project_restore            in     403       403        403     302     404      404       404
GET   project_delete             in     403       403        403     200     404      404       404
POST  project_delete             in     403       403        403     422     404      404       404
GET   campaign_close             in     403       403        403     200     404      404       404
POST  campaign_close             in     403       403        403     302     404      404       404
POST  campaign_reopen            in     403       403        403     302     404      404       404
GET   results_publish            in     403       403        403     200     404      404       404
POST  results_publish            in     403       403        403     302     404      404       404
POST  results_unpublish          in     403       403        403     302     404      404       404
GET   webhooks                   in     403       403        403     200     404      404       404
POST  webhooks                   in     403       403        403     200     404      404       404
GET   webhook                    in     403       403        403     200     404      404       404
POST  webhook_test               in     403       403        403     302     404      404       404
POST  webhook_send_again         in     403       403        403     302     404      404       404
GET   webhook_delete             in     403       403        403     200     404      404       404
POST  webhook_delete             in     403       403        403     302     404      404       404
GET   audit_log                  in     403       403        403     200     404      404       404
GET   audit_log_csv              in     403       403        403     200     404      404       404
GET   people                     in     403       403        403     200     404      404       404
POST  people                     in     403       403        403     200     404      404       404
GET   invitations                in     403       403        403     200     404      404       404
POST  invitation_revoke          in     403       403        403     302     404      404       404
GET   member_remove              in     403       403        403     200     404      404       404
POST  member_remove              in     403       403        403     302     404      404       404
POST  password_link              in     403       403        403     200     404      404       404
GET   rater_messages             in     403       403        403     200     404      404       404
POST  rater_messages             in     403       403        403     302     404      404       404
GET   messages_to_all            in     403       403        403     200     404      404       404
POST  messages_to_all            in     403       403        403     302     404      404       404
GET   rater_languages            in     403       403        403     200     404      404       404
POST  rater_languages            in     403       403        403     302     404      404       404
GET   rater_suspend              in     403       403        403     200     404      404       404
GET   rater_qualification        in     403       403        403     200     404      404       404
POST  rater_qualify              in     403       403        403     302     404      404       404
POST  rater_allow_round          in     403       403        403     400     404      404       404
POST  rater_unqualify            in     403       403        403     302     404      404       404
POST  rater_suspend              in     403       403        403     302     404      404       404
GET   rater_remove               in     403       403        403     200     404      404       404
POST  rater_remove               in     403       403        403     302     404      404       404
GET   rater_reinstate            in     403       403        403     200     404      404       404
POST  rater_reinstate            in     403       403        403     302     404      404       404

GET   runs                       in     403       403        200     200     404      404       404
GET   run_new                    in     403       403        200     200     404      404       404
POST  run_new                    in     403       403        302     302     404      404       404
GET   run                        in     403       403        200     200     404      404       404
POST  run_cancel                 in     403       403        302     302     404      404       404
POST  run_resume                 in     403       403        302     302     404      404       404
GET   run_probe                  in     403       403        200     200     404      404       404
GET   run_delete                 in     403       403        200     200     404      404       404
POST  run_delete                 in     403       403        302     302     404      404       404
GET   run_scores                 in     403       403        200     200     404      404       404
POST  run_budget                 in     403       403        422     422     404      404       404
GET   dimensions                 in     403       403        200     200     404      404       404
POST  dimensions                 in     403       403        403     302     404      404       404
GET   dimension                  in     403       403        403     200     404      404       404
POST  dimension                  in     403       403        403     302     404      404       404
GET   dimension_remove           in     403       403        403     200     404      404       404
POST  dimension_remove           in     403       403        403     302     404      404       404
GET   endpoints                  in     403       403        200     200     404      404       404
POST  endpoints                  in     403       403        403     302     404      404       404
GET   endpoint                   in     403       403        200     200     404      404       404
POST  endpoint_key               in     403       403        403     302     404      404       404
GET   endpoint_key_remove        in     403       403        403     200     404      404       404
POST  endpoint_key_remove        in     403       403        403     302     404      404       404
POST  endpoint_limits            in     403       403        403     302     404      404       404
POST  endpoint_prices            in     403       403        403     302     404      404       404
POST  endpoint_model_new         in     403       403        403     302     404      404       404
GET   endpoint_model_check       in     403       403        200     200     404      404       404
POST  endpoint_model_check       in     403       403        403     302     404      404       404
GET   endpoint_model_remove      in     403       403        403     200     404      404       404
POST  endpoint_model_remove      in     403       403        403     302     404      404       404
GET   endpoint_remove            in     403       403        403     200     404      404       404
POST  endpoint_remove            in     403       403        403     302     404      404       404
GET   summary_scores             in     403       403        200     200     404      404       404
GET   agreement                  in     403       403        200     200     404      404       404
GET   agreement_table            in     403       403        200     200     404      404       404
GET   contradictions             in     403       403        200     200     404      404       404
GET   adjudication               in     403       403        200     200     404      404       404
GET   adjudication_csv           in     403       403        200     200     404      404       404
GET   adjudicate                 in     403       403        200     200     404      404       404
POST  adjudicate                 in     403       403        403     302     404      404       404
POST  adjudication_withdraw      in     403       403        403     302     404      404       404
GET   raters                     in     403       403        200     200     404      404       404
GET   rater                      in     403       403        200     200     404      404       404
GET   rater_without              in     403       403        403     200     404      404       404
GET   comparison                 in     403       403        200     200     404      404       404
GET   comparison_table             in     403       403        200     200     404      404       404
GET   significance_csv           in     403       403        200     200     404      404       404
GET   levels_csv                 in     403       403        200     200     404      404       404
GET   answers                    in     403       403        200     200     404      404       404
GET   answers_table              in     403       403        200     200     404      404       404
GET   systems_csv                in     403       403        200     200     404      404       404
GET   systems                    in     403       403        200     200     404      404       404
GET   systems_table              in     403       403        200     200     404      404       404
GET   planning                   in     403       403        200     200     404      404       404
GET   planning_table             in     403       403        200     200     404      404       404
GET   preregistrations           in     403       403        200     200     404      404       404
GET   preregistrations_csv       in     403       403        200     200     404      404       404
GET   preregistration_new        in     403       403        200     200     404      404       404
POST  preregistration_new        in     403       403        422     422     404      404       404
GET   preregistration_withdraw   in     403       403        200     200     404      404       404
POST  preregistration_withdraw   in     403       403        302     302     404      404       404
GET   comparison_methods               in     403       403        200     200     404      404       404
GET   timeline                   in     403       403        200     200     404      404       404
GET   timeline_figure            in     403       403        200     200     404      404       404
GET   comparison_figure            in     403       403        200     200     404      404       404
GET   agreement_figure           in     403       403        200     200     404      404       404
GET   evaluator_card             in     403       403        200     200     404      404       404
GET   evaluator_card_table       in     403       403        200     200     404      404       404
GET   evaluator_card_figure      in     403       403        200     200     404      404       404
GET   comparison_summaries         in     403       403        200     200     404      404       404
GET   disagreements              in     403       403        200     200     404      404       404
GET   disagreements_csv          in     403       403        200     200     404      404       404
GET   disagreement               in     403       403        200     200     404      404       404
POST  disagreement_tag           in     403       403        302     302     404      404       404
POST  disagreement_rerating      in     403       403        302     302     404      404       404
GET   rechecks                   in     403       403        200     200     404      404       404
GET   rechecks_of_setup           in     403       403        200     200     404      404       404
POST  recheck_start           in     403       403        302     302     404      404       404
POST  recheck_schedule        in     403       403        302     302     404      404       404
GET   judges                     in     403       403        200     200     404      404       404
POST  judges                     in     403       403        302     302     404      404       404
GET   judge_new                  in     403       403        200     200     404      404       404
POST  judge_new                  in     403       403        422     422     404      404       404
GET   judge                      in     403       403        200     200     404      404       404
GET   judge_version              in     403       403        200     200     404      404       404
GET   judge_version_new          in     403       403        200     200     404      404       404
POST  judge_version_new          in     403       403        422     422     404      404       404
GET   judge_try                  in     403       403        200     200     404      404       404
POST  judge_try                  in     403       403        422     422     404      404       404
GET   sealed_open                in     403       403        200     200     404      404       404
POST  sealed_open                in     403       403        422     422     404      404       404
GET   across_projects            in     403       403        200     200     404      404       404
GET   across_projects_table      in     403       403        200     200     404      404       404
GET   across_projects_figure     in     403       403        200     200     404      404       404
GET   experiments                in     403       403        200     200     404      404       404
GET   experiment_new             in     403       403        200     200     404      404       404
POST  experiment_new             in     403       403        302     302     404      404       404
GET   experiment_compare         in     403       403        200     200     404      404       404
POST  experiment_compare         in     403       403        422     422     404      404       404
GET   experiment                 in     403       403        200     200     404      404       404
GET   experiment_members         in     403       403        200     200     404      404       404
POST  experiment_cancel          in     403       403        302     302     404      404       404
POST  experiment_resume          in     403       403        302     302     404      404       404
GET   experiment_delete          in     403       403        200     200     404      404       404
POST  experiment_delete          in     403       403        302     302     404      404       404
GET   experiment_table           in     403       403        200     200     404      404       404
GET   experiment_csv             in     403       403        200     200     404      404       404
GET   experiment_figure          in     403       403        200     200     404      404       404
GET   trainings                  in     403       403        200     200     404      404       404
GET   model_archive              in     403       403        200     200     404      404       404
POST  model_import               in     403       403        302     302     404      404       404
GET   model_register             in     403       403        200     200     404      404       404
POST  model_register             in     403       403        422     422     404      404       404
GET   model                      in     403       403        200     200     404      404       404
POST  model_rename               in     403       403        302     302     404      404       404
GET   model_delete               in     403       403        200     200     404      404       404
POST  model_delete               in     403       403        302     302     404      404       404
GET   training_new               in     403       403        200     200     404      404       404
POST  training_new               in     403       403        422     422     404      404       404
GET   training                   in     403       403        200     200     404      404       404
POST  training_cancel            in     403       403        302     302     404      404       404
POST  training_resume            in     403       403        302     302     404      404       404
GET   training_delete            in     403       403        200     200     404      404       404
POST  training_delete            in     403       403        302     302     404      404       404
GET   training_figure            in     403       403        200     200     404      404       404
GET   learning_curve_new         in     403       403        200     200     404      404       404
POST  learning_curve_new         in     403       403        422     422     404      404       404
GET   learning_curve             in     403       403        200     200     404      404       404
GET   learning_curve_models      in     403       403        200     200     404      404       404
POST  learning_curve_cancel      in     403       403        302     302     404      404       404
POST  learning_curve_resume      in     403       403        302     302     404      404       404
GET   learning_curve_delete      in     403       403        200     200     404      404       404
POST  learning_curve_delete      in     403       403        302     302     404      404       404
GET   learning_curve_table       in     403       403        200     200     404      404       404
GET   learning_curve_csv         in     403       403        200     200     404      404       404
GET   learning_curve_figure      in     403       403        200     200     404      404       404

GET   api_schema                401     200       200        200     200     200      200       200
GET   api_projects              401     200       200        200     200     200      200       200
GET   api_project               401     403       403        200     200     404      404       404
PATCH api_project               401     403       403        403     200     404      404       404
GET   api_labels                401     403       403        200     200     404      404       404
GET   api_exports               401     403       403        200     200     404      404       404
GET   api_export                401     403       403        403     200     404      404       404
GET   api_audit_log             401     403       403        403     200     404      404       404
POST  api_projects              401     403       403        403     201     403      201       201
POST  api_imports               401     403       403        403     400     404      404       404
GET   api_import                401     403       403        403     200     404      404       404
POST  api_raters                401     403       403        403     201     404      404       404
GET   api_invitations           401     403       403        403     200     404      404       404
POST  api_invitations           401     403       403        403     201     404      404       404
DELETE api_invitation           401     403       403        403     204     404      404       404
GET   api_webhooks              401     403       403        403     200     404      404       404
POST  api_webhooks              401     403       403        403     201     404      404       404
DELETE api_webhook              401     403       403        403     204     404      404       404
GET   api_webhook_deliveries    401     403       403        403     200     404      404       404
GET   api_guidelines            401     200       200        403     403     404      404       404
POST  api_guidelines            401     400       400        403     403     404      404       404
POST  api_rounds                401     200       403        403     403     404      404       404
POST  api_rating_next           401     200       200        403     403     404      404       404
GET   api_rating                401     409       200        403     403     404      404       404
PUT   api_rating_stage          401     409       200        403     403     404      404       404
POST  api_rating_skip           401     409       204        403     403     404      404       404
GET   api_runs                  401     403       403        200     200     404      404       404
POST  api_runs                  401     403       403        201     201     404      404       404
GET   api_run                   401     403       403        200     200     404      404       404
POST  api_run_cancel            401     403       403        409     409     404      404       404
GET   api_scores                401     403       403        200     200     404      404       404
GET   api_across_projects       401     403       403        200     200     404      404       404
GET   api_experiments           401     403       403        200     200     404      404       404
GET   api_learning_curves        401     403       403        200     200     404      404       404
GET   api_learning_curve         401     403       403        200     200     404      404       404
GET   api_judges                401     403       403        200     200     404      404       404
GET   api_judge                 401     403       403        200     200     404      404       404
GET   api_rechecks             401     403       403        200     200     404      404       404
GET   api_agreement             401     403       403        200     200     404      404       404
GET   api_preregistrations      401     403       403        200     200     404      404       404
GET   api_comparison              401     403       403        200     200     404      404       404
GET   api_evaluator_card        401     403       403        200     200     404      404       404
"""
OPEN_WHEN_PUBLISHED = {
    "agreement",
    "agreement_table",
    "agreement_figure",
    "evaluator_card",
    "evaluator_card_table",
    "evaluator_card_figure",
    "comparison",
    "comparison_figure",
    "timeline",
    "timeline_figure",
    "comparison_methods",
    "comparison_table",
    "significance_csv",
    "levels_csv",
    "systems_csv",
    "answers",
    "answers_table",
    "systems",
    "systems_table",
    "planning",
    "planning_table",
    "preregistrations",
    "preregistrations_csv",
    "api_agreement",
    "api_comparison",
    "api_preregistrations",
    "api_evaluator_card",
}
"""Addresses that anybody may read once a manager has published the results."""
OPEN_TO_ALL = {
    "favicon",
    "demo_enter",
    "home",
    "sign_in",
    "sign_in_code",
    "admin_sign_in",
    "sign_out",
    "interface_language",
    "invitation",
    "oidc_start",
    "oidc_return",
    "password_forgotten",
    "password_reset",
}
ANYBODY = ("anonymous", "stranger", "superuser")
FORMS: dict[str, dict[str, object]] = {
    "import_columns": {"check": "1"},
    "training_new": {"method": "seahorse"},
    "learning_curve_new": {"method": "seahorse"},
    "sign_in": {"username": "nobody", "password": "wrong"},
    "two_factor": {"code": "000000", "current_password": "wrong"},
    "recovery_codes_new": {"current_password": "wrong"},
    "two_factor_off": {"current_password": "wrong"},
    "token_new": {"label": "laptop", "scope": "read", "days": "90"},
    "api_projects": {"name": "A new one", "questionnaire": "seahorse"},
    "api_project": {"daily_goal": 40},
    "webhooks": {"address": "https://another.example/hook", "events": ["run.finished"]},
    "api_webhooks": {"address": "https://another.example/hook", "events": ["run.finished"]},
    "api_raters": {"username": "participant-7", "languages": ["en"]},
    "api_invitations": {"role": "annotator", "languages": ["en"]},
    "api_runs": {"evaluator": "copy_rate"},
    "api_rating_stage": {"answers": {"comprehensibility": {"value": "yes"}}},
    "rate_skip": {"reason": "hard"},
    "api_rating_skip": {"reason": "hard"},
    "password": {"old_password": "wrong", "new_password1": "x", "new_password2": "y"},
    "email": {"email": "a@example.org", "current_password": "wrong"},
    "interface_language": {"language": "en"},
    "password_forgotten": {"name_or_email": "nobody"},
    "project_new": {"name": "A new one", "questionnaire": "seahorse", "redundancy": 1},
    "rate_item": {"stage": 1, "answer-comprehensibility": "yes"},
    "rate_draft": {"stage": 1, "answer-comprehensibility": "yes"},
    "rate_flag": {"stage": 1, "flag": "The article is cut off."},
    "rate_undo": {"stage": 1, "answer-comprehensibility": "yes"},
    "flag_resolve": {"note": "Imported the whole article."},
    "rating_void": {"reason": "Rated the wrong text."},
    "history_correct": {"answer-comprehensibility": "no", "comment-comprehensibility": "No verb in it."},
    "gold_answers": {"comprehensibility": "no"},
    "rate_languages": {"language": "en"},
    "rater_qualify": {"language": "en"},
    "rater_unqualify": {"language": "en"},
    "rater_allow_round": {"language": "en"},
    "adjudicate": {"answer-comprehensibility": "yes", "note-comprehensibility": "Clear enough."},
    "imports": {"format": "examples"},
    "project_settings": {"name": ""},
    "people": {"role": "researcher"},
    "rater_languages": {"other_languages": "tr"},
    "own_messages": {"text": "Which question is meant?"},
    "rater_messages": {"text": "The second one."},
    "messages_to_all": {"text": "Thank you all.", "confirmed": "2"},
    "rater_suspend": {"reason": "Away."},
    "rater_remove": {"reason": "Answers at random."},
    "rater_reinstate": {"reason": "Talked."},
    "guidelines_default": {"default_language": "en"},
    "guidelines_draft": {"text": "Read.", "changes": "Shorter.", "saves": 2},
    "guidelines_publish": {"saves": 2},
    "guidelines_discard": {"saves": 2},
    "disagreement_rerating": {"again": "1"},
    "recheck_start": {"kind": "drift"},
    "recheck_schedule": {"days": 7},
    "preregistration_withdraw": {"reason": "Wrong question."},
    "judges": {"pool": 20, "tuning": 40, "seed": 0},
    "disagreement_tag": {"verdict": "label", "note": "The rater misread it."},
    "run_new": {"evaluator": "copy_rate", "action": "start"},
    "experiment_new": {
        "evaluator": "rouge",
        "action": "start",
        "name": "Which ROUGE",
        "varies": "variant",
        "values": "1, 2",
    },
    "dimensions": {"name": "another", "description": "Is it?", "sees": "summary"},
    "dimension": {"name": "focus", "description": "Is it on topic?", "sees": "summary"},
    "endpoints": {"base_url": "https://another.example/v1", "key": "another-key"},
    "endpoint_key": {"key": "another-key"},
    "endpoint_limits": {"most_in_flight": 8},
    "endpoint_model_new": {"new-name": "another", "new-api": "chat"},
}
ANY_METHOD = {"sign_in", "sign_in_code", "sign_out"}  # Django's own views
CONFLICT_IF_NOT_ASSIGNED = {
    "rate_item",
    "rate_draft",
    "rate_flag",
    "rate_skip",
    "rate_keep",
    "rate_undo",
    "history_reopen",
    "api_rating",
    "api_rating_stage",
    "api_rating_skip",
}
"""Addresses that answer 409 for another rater's assignment and for a missing one."""
RATED_BY_API = {
    "api_guidelines",
    "api_rounds",
    "api_rating_next",
    "api_rating",
    "api_rating_stage",
    "api_rating_skip",
}
"""Addresses for tokens that rate."""
OWN_REVIEW = ("round_review", "trainee")
"""The page with explained gold answers, and the role that may see them after answering."""

ALLOWED_WRITES = {
    ("GET", "rate"),  # it reserves the rater's next summary
    ("GET", "own_messages"),  # it marks messages as read
    ("GET", "rater_messages"),
    ("GET", "export_file"),  # the audit log records it
    ("GET", "api_export"),
    ("POST", "rate_flag"),  # it also stores the answers in its form
    ("POST", "rate_undo"),  # likewise
}
REFUSED_IN_THIS_STATE = {
    "demo_enter": "annotator",
    "rate_flag": "annotator",
    "rate_keep": "annotator",
    "rating_stop": "annotator",
    "import_cancel": "manager",
    "rating_restore": "manager",
    "flag_reopen": "manager",
    "import_undo": "manager",
    "api_run_cancel": "manager",
    "rater_allow_round": "manager",
    "admin_sign_in": "superuser",
    "oidc_start": "annotator",
    "oidc_return": "annotator",
}
"""Address -> the role that may use it, although the table's object is in another state."""

SECRETS = (
    "article",
    "title",
    "system",
    "comment",
    "explanation",
    "score",
    "pseudonym",
    "note",
    "file",
    "draft",
    "decision",
    "message",
)


@dataclass(frozen=True)
class Row:
    method: str
    name: str
    expected: dict[str, str]


def read_table() -> list[Row]:
    header, *lines = [line.split() for line in TABLE.splitlines() if line.strip()]
    assert tuple(header) == ROLES
    return [Row(method, name, dict(zip(ROLES, rest, strict=True))) for method, name, *rest in lines]


ROWS = read_table()
IN_A_PROJECT = [row for row in ROWS if "slug" in ARGUMENTS[row.name]]


def roles_to_ask(row: Row) -> list[str]:
    """Return the roles whose answers the table tells apart from those of similar roles."""
    return [role for role in ROLES if role not in LIKE or row.expected[role] != row.expected[LIKE[role]]]


def further_roles(row: Row) -> list[str]:
    """Return the other roles, and one that the address is open to."""
    allowed = [role for role in ROLES if not is_refusal(row.expected[role])]
    does_most = {"manager"} & set(allowed) or set(allowed[-1:])
    return [role for role in ROLES if role in does_most or role not in roles_to_ask(row)]


@pytest.fixture
def askers(request: pytest.FixtureRequest) -> Callable[[Row], Sequence[str]]:
    """Return a function from a row to the roles that ask for it."""
    return further_roles if is_thorough(request.config) else roles_to_ask


@dataclass(frozen=True)
class Answer:
    """A response: `shown` is body and headers; `written` are the statements that changed data."""

    status: str
    shown: str
    written: list[str]

    @property
    def is_refusal(self) -> bool:
        return is_refusal(self.status)


@dataclass
class World:
    own: Campaign
    foreign: Campaign
    client: Client
    sessions: dict[str, str]
    tokens: dict[str, dict[str, str]]
    seen: dict[tuple[str, str, str], Answer]
    snapshots: dict[int, object] = field(default_factory=dict)

    def answer(self, role: str, method: str, name: str) -> Answer:
        """Return the answer of `ask`, once for several tests, since each request is rolled back."""
        if (role, method, name) not in self.seen:
            self.seen[role, method, name] = self.ask(role, method, name)
        return self.seen[role, method, name]

    def ask(self, role: str, method: str, name: str, address: str = "", **headers: str) -> Answer:
        """Send one request with this role's session and roll its changes back."""
        self.client.cookies = SimpleCookie()
        if role in self.sessions:
            self.client.cookies["sessionid"] = self.sessions[role]
        send = getattr(self.client, method.lower())
        address = address or address_of(name, self.own.ids_for(name))
        snapshots = kept_snapshots(self.snapshots) if method == "GET" else nullcontext()
        with snapshots, transaction.atomic(), writes() as written:
            is_json = name.startswith("api_") and name != "api_imports" and method != "GET"
            kind = {"content_type": "application/json"} if is_json else {}
            form = {} if name.startswith("api_") and method == "GET" else FORMS.get(name, {})
            response = send(address, form, headers=headers, **kind)
            content = b"".join(response.streaming_content) if response.streaming else response.content
            transaction.set_rollback(True)
        return Answer(status_of(response), content.decode() + str(response.headers), written)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[World]:
    """Create two campaigns once, in a transaction around those of the tests."""
    folder = tmp_path_factory.mktemp("files")
    folders = override_settings(MEDIA_ROOT=folder / "uploads", VAR_DIR=folder / "var")
    weights = pytest.MonkeyPatch.context()
    with folders, weights as patch, django_db_blocker.unblock(), transaction.atomic():
        patch.setenv("WEIGHTS_DIR", str(folder / "weights"))
        own, foreign = make_campaign("own"), make_campaign("foreign")
        for each in (own, foreign):
            make_trained_model(str(each.ids["model_name"]))
        superuser = make_user("superuser")
        superuser.is_staff = superuser.is_superuser = True
        superuser.save()
        users = {**own.users, "stranger": foreign.users["manager"], "superuser": superuser}
        client, sessions, tokens = Client(), {}, {}
        for role, user in users.items():
            client.force_login(user)
            sessions[role] = client.cookies.pop("sessionid").value
            tokens[role] = {
                scope: issue_api_token(user, "matrix", scope=scope)[1] for scope in ApiToken.Scope
            }
        yield World(own, foreign, client, sessions, tokens, seen={})
        transaction.set_rollback(True)


@contextmanager
def writes() -> Iterator[list[str]]:
    """Collect the statements that change tables, except those of sessions and failed sign-ins."""
    found: list[str] = []

    def note(execute: Callable[..., object], sql: str, *rest: object) -> object:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")) and not (
            "annotation_session" in sql or "axes_" in sql
        ):
            found.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield found


def status_of(response: HttpResponse) -> str:
    if response.status_code == 302 and response["Location"].startswith("/sign-in/"):
        return "in"
    return str(response.status_code)


def is_refusal(status: str) -> bool:
    return status in ("in", "401", "403", "404", "409")


def test_every_address_has_a_row():
    assert None not in ARGUMENTS, "an address has no name"
    assert set(ARGUMENTS) == {row.name for row in ROWS}
    assert len({(row.method, row.name) for row in ROWS}) == len(ROWS)


def test_every_other_view_requires_a_login():
    public = {
        pattern.name
        for pattern in patterns(get_resolver().url_patterns)
        if not getattr(pattern.callback, "login_required", True)
    }
    api = {name for name in ARGUMENTS if name.startswith("api_")}  # authenticates its callers itself
    assert public == OPEN_WHEN_PUBLISHED | OPEN_TO_ALL | api


def test_each_role_gets_the_status_of_the_table(world, askers):
    wrong = []
    for row, role in ((each, role) for each in ROWS for role in askers(each)):
        answer = world.answer(role, row.method, row.name)
        only_reads = row.method == "GET" or answer.is_refusal
        written = answer.written if only_reads and (row.method, row.name) not in ALLOWED_WRITES else []
        found = (answer.status, written, leaks(answer, role, row.name, world))
        if found != (row.expected[role], [], []):
            wrong.append((row.method, row.name, role, row.expected[role], *found))
    assert wrong == []


@pytest.mark.thorough
def test_parts_of_pages_are_refused_like_the_pages(world):
    """Some views answer htmx requests in their own way."""
    wrong = []
    for row, role in product(ROWS, ("anonymous", "annotator", "removed", "stranger")):
        answer = world.ask(role, row.method, row.name, **{"HX-Request": "true"})
        found = leaks(answer, role, row.name, world)
        if found or answer.is_refusal != is_refusal(row.expected[role]):
            wrong.append((row.method, row.name, role, row.expected[role], answer.status, found))
    assert wrong == []


def test_publishing_opens_only_the_results_and_not_to_raters(world, askers, monkeypatch, request):
    closed_to = {"anonymous", "annotator", "superuser"} if is_thorough(request.config) else {"stranger"}
    monkeypatch.setattr(strangers, "NEW_PER_MINUTE", 1_000)
    Project.objects.filter(pk=world.own.project.pk).update(results_published_at=timezone.now())
    published = {f"{world.own.mark}-system", SCORE}  # every summary has the same score, so it is the mean
    wrong = []
    for row in IN_A_PROJECT:
        opens = row.name in OPEN_WHEN_PUBLISHED
        expected = row.expected | (dict.fromkeys(ANYBODY, "200") if opens else {})
        for role in askers(replace(row, expected=expected)) if opens else closed_to:
            answer = world.ask(role, row.method, row.name)
            may_see = published if expected[role] == "200" else set()
            found = set(leaks(answer, role, row.name, world)) - may_see
            if found or answer.status != expected[role]:
                wrong.append((row.method, row.name, role, expected[role], answer.status, found))
    assert wrong == []


def test_a_token_opens_the_same_addresses_as_the_session(world, askers):
    wrong = []
    for row in (row for row in ROWS if row.name.startswith("api_")):
        for role in set(askers(row)) & set(world.tokens):
            changes = ApiToken.Scope.READ if row.method == "GET" else ApiToken.Scope.MANAGE
            scope = ApiToken.Scope.RATE if row.name in RATED_BY_API else changes
            token = world.tokens[role][scope]
            answer = world.ask("by token", row.method, row.name, Authorization=f"Bearer {token}")
            if answer.status != row.expected[role]:
                wrong.append((row.name, role, row.expected[role], answer.status))
    assert wrong == []


def leaks(answer: Answer, role: str, name: str, world: World) -> list[str]:
    """Return the texts in the answer that are hidden from this role."""
    hidden = [] if role in ("stranger", "superuser") else [f"{world.foreign.mark}-"]
    hidden.append(f"{world.own.mark}-api-key")  # an endpoint's key is shown to nobody
    if role not in ("researcher", "manager"):
        secrets = [kind for kind in SECRETS if (name, role) != OWN_REVIEW or kind != "explanation"]
        hidden += [f"{world.own.mark}-{kind}" for kind in secrets]
        hidden.append(SCORE)
    if role != "manager":
        raters = ("trainee", "annotator", "removed")
        hidden += [f"{world.own.mark}-{rater}-name" for rater in raters if rater != role]
    return [text for text in hidden if text in answer.shown]


def test_the_marks_appear_for_managers(world):
    """Otherwise the search for leaks might look for texts that no page shows."""
    shown = "".join(world.answer("manager", "GET", row.name).shown for row in ROWS if row.method == "GET")
    marks = [f"{world.own.mark}-{kind}" for kind in (*SECRETS, "annotator-name")]
    assert [mark for mark in (*marks, SCORE) if mark not in shown] == []


@pytest.mark.sqlite_suffices("a refusal runs no query that a permitted request does not")
@pytest.mark.parametrize(
    "roles",
    [
        pytest.param(slice(-1, None), id="who may do most"),
        pytest.param(slice(-1), id="others", marks=pytest.mark.thorough),
    ],
)
def test_objects_of_another_project_are_not_found(world, roles):
    """Requested under the user's own project, and under the other project."""
    wrong = []
    for row in IN_A_PROJECT:
        foreign = world.foreign.ids_for(row.name)
        expected = {address_of(row.name, foreign): "404"}
        if has_object(row.name):
            mixed = address_of(row.name, {**foreign, "slug": world.own.project.slug})
            expected[mixed] = "409" if row.name in CONFLICT_IF_NOT_ASSIGNED else "404"
        for (address, status), role in product(expected.items(), allowed_roles(row)[roles]):
            answer = world.ask(role, row.method, row.name, address)
            if (answer.status, answer.written) != (status, []):
                wrong.append((row.method, address, role, status, answer.status, answer.written))
    assert wrong == []


def test_missing_projects_and_objects_are_not_found(world):
    """Requested with an unknown project, and with ids beyond every database's range."""
    wrong = []
    for row in IN_A_PROJECT:
        ids = world.own.ids_for(row.name)
        expected = {address_of(row.name, {**ids, "slug": "no-such-project"}): "404"}
        if has_object(row.name):
            huge = address_of(row.name, {**ids, **{key: 10**30 for key in ids if key.endswith("_id")}})
            expected[huge] = "404"
        for address, status in expected.items():
            answer = world.ask(allowed_roles(row)[0], row.method, row.name, address)
            if (answer.status, answer.written) != (status, []):
                wrong.append((row.method, address, status, answer.status, answer.written))
    assert wrong == []


def allowed_roles(row: Row) -> list[str]:
    """Return the roles that are not refused."""
    return [role for role in ROLES if not is_refusal(row.expected[role])] or [REFUSED_IN_THIS_STATE[row.name]]


@pytest.mark.parametrize(
    "methods",
    [{"GET", "POST", "DELETE"}, pytest.param({"PUT", "PATCH", "OPTIONS"}, marks=pytest.mark.thorough)],
)
def test_other_methods_are_refused(world, methods):
    """Asked by a role that the address is open to; others would be refused anyway."""
    wrong = []
    for name in sorted(set(ARGUMENTS) - ANY_METHOD):
        rows = [row for row in ROWS if row.name == name]
        others = methods - {row.method for row in rows}
        role = "manager" if "manager" in allowed_roles(rows[0]) else "annotator"
        for method in sorted(others):
            answer = world.ask(role, method, name)
            if (answer.status, answer.written) != ("405", []):
                wrong.append((method, name, role, answer.status, answer.written))
    assert wrong == []


def test_only_staff_can_open_the_admin(world):
    doors = {"login", "logout"}
    entries = [entry for entry in patterns(admin.site.get_urls()) if not entry.pattern.converters]
    names = {entry.name for entry in entries if entry.name and "app_list" not in entry.name} - doors
    assert {"index", "auth_user_changelist", "annotation_membership_changelist"} <= names
    for name in names:
        address = reverse(f"admin:{name}")
        for role in ROLES:
            answer = world.ask(role, "GET", "admin", address)
            if role == "superuser":
                assert name == "autocomplete" or answer.status == "200" or name.endswith("_add"), address
            else:
                assert answer.status == "in" or "'/admin/login/" in answer.shown, f"{role} at {address}"
