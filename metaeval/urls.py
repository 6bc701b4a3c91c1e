"""URLs of the results pages."""

from django.urls import path

from metaeval.across_projects import views as across_projects
from metaeval.adjudication import views as adjudication
from metaeval.agreement import views as agreement
from metaeval.answers import views as answers
from metaeval.card import views as card
from metaeval.comparison import views as comparison
from metaeval.disagreements import summary_views
from metaeval.disagreements import views as disagreements
from metaeval.experiments import making_views
from metaeval.experiments import views as experiments
from metaeval.judges import version_views
from metaeval.judges import views as judges
from metaeval.learning_curves import making_views as new_curves
from metaeval.learning_curves import views as curves
from metaeval.planning import views as planning
from metaeval.preregistrations import views as preregistrations
from metaeval.priority import views as priority
from metaeval.raters import views as raters
from metaeval.rechecks import views as rechecks
from metaeval.systems import views as systems
from metaeval.training import model_views
from metaeval.training import views as trainings

PROJECT = "projects/<slug:slug>"
ACROSS_PROJECTS = f"{PROJECT}/across-projects"
ADJUDICATION = f"{PROJECT}/adjudication"
AGREEMENT = f"{PROJECT}/agreement"
ANSWERS = f"{PROJECT}/answers"
COMPARISON = f"{PROJECT}/comparison"
CARD = f"{PROJECT}/card"
DISAGREEMENTS = f"{PROJECT}/disagreements"
DISAGREEMENT = f"{DISAGREEMENTS}/<int:setup_id>/<slug:question_key>/<int:summary_id>"
EXPERIMENTS = f"{PROJECT}/experiments"
EXPERIMENT = f"{EXPERIMENTS}/<int:experiment_id>"
JUDGES = f"{PROJECT}/judges"
JUDGE = f"{JUDGES}/<int:judge_id>"
VERSION = f"{JUDGE}/versions/<int:number>"
PREREGISTRATIONS = f"{PROJECT}/preregistrations"
PRIORITY = f"{PROJECT}/priority"
RATERS = f"{PROJECT}/raters"
RECHECKS = f"{PROJECT}/rechecks"
TRAININGS = f"{PROJECT}/trainings"
TRAINING = f"{TRAININGS}/<int:training_id>"
CURVES = f"{TRAININGS}/curves"
CURVE = f"{CURVES}/<int:curve_id>"
MODEL = f"{TRAININGS}/models/<str:model_name>"
FIGURE = "figures/<slug:name>.<slug:kind>"

urlpatterns = [
    path(f"{ACROSS_PROJECTS}/", across_projects.across_projects, name="across_projects"),
    path(
        f"{ACROSS_PROJECTS}/table.<slug:kind>",
        across_projects.across_projects_table,
        name="across_projects_table",
    ),
    path(
        f"{ACROSS_PROJECTS}/{FIGURE}",
        across_projects.across_projects_figure,
        name="across_projects_figure",
    ),
    path(f"{ADJUDICATION}/", adjudication.adjudication, name="adjudication"),
    path(f"{ADJUDICATION}/table.csv", adjudication.adjudication_csv, name="adjudication_csv"),
    path(f"{ADJUDICATION}/<int:summary_id>/", adjudication.adjudicate, name="adjudicate"),
    path(
        f"{ADJUDICATION}/<int:summary_id>/<slug:question_key>/withdraw/",
        adjudication.adjudication_withdraw,
        name="adjudication_withdraw",
    ),
    path(f"{AGREEMENT}/", agreement.agreement, name="agreement"),
    path(f"{AGREEMENT}/table.<slug:kind>", agreement.agreement_table, name="agreement_table"),
    path(f"{AGREEMENT}/{FIGURE}", agreement.agreement_figure, name="agreement_figure"),
    path(f"{ANSWERS}/", answers.answers, name="answers"),
    path(f"{ANSWERS}/tables/<slug:name>.<slug:kind>", answers.answers_table, name="answers_table"),
    path(f"{COMPARISON}/", comparison.comparison, name="comparison"),
    path(f"{COMPARISON}/table.<slug:kind>", comparison.comparison_table, name="comparison_table"),
    path(f"{COMPARISON}/significance.csv", comparison.significance_csv, name="significance_csv"),
    path(f"{COMPARISON}/how-computed.txt", comparison.comparison_methods, name="comparison_methods"),
    path(f"{COMPARISON}/levels.csv", comparison.levels_csv, name="levels_csv"),
    path(f"{COMPARISON}/systems.csv", comparison.systems_csv, name="systems_csv"),
    path(f"{COMPARISON}/timeline/", comparison.timeline, name="timeline"),
    path(f"{COMPARISON}/timeline/{FIGURE}", comparison.timeline_figure, name="timeline_figure"),
    path(f"{COMPARISON}/{FIGURE}", comparison.comparison_figure, name="comparison_figure"),
    path(f"{COMPARISON}/summaries/", summary_views.comparison_summaries, name="comparison_summaries"),
    path(f"{CARD}/", card.evaluator_card, name="evaluator_card"),
    path(f"{CARD}/table.<slug:kind>", card.evaluator_card_table, name="evaluator_card_table"),
    path(f"{CARD}/{FIGURE}", card.evaluator_card_figure, name="evaluator_card_figure"),
    path(f"{PROJECT}/planning/", planning.planning, name="planning"),
    path(f"{PROJECT}/planning/table.<slug:kind>", planning.planning_table, name="planning_table"),
    path(f"{PRIORITY}/", priority.priority, name="priority"),
    path(f"{PRIORITY}/remove/", priority.priority_remove, name="priority_remove"),
    path(f"{PRIORITY}/draws.csv", priority.priority_csv, name="priority_csv"),
    path(f"{PREREGISTRATIONS}/", preregistrations.preregistrations, name="preregistrations"),
    path(f"{PREREGISTRATIONS}/table.csv", preregistrations.preregistrations_csv, name="preregistrations_csv"),
    path(f"{PREREGISTRATIONS}/new/", preregistrations.preregistration_new, name="preregistration_new"),
    path(
        f"{PREREGISTRATIONS}/<int:preregistration_id>/withdraw/",
        preregistrations.preregistration_withdraw,
        name="preregistration_withdraw",
    ),
    path(f"{PROJECT}/systems/", systems.systems, name="systems"),
    path(f"{PROJECT}/systems/<slug:name>.<slug:kind>", systems.systems_table, name="systems_table"),
    path(
        f"{PROJECT}/summaries/<int:summary_id>/scores/", summary_views.summary_scores, name="summary_scores"
    ),
    path(f"{DISAGREEMENTS}/", disagreements.disagreements, name="disagreements"),
    path(f"{DISAGREEMENTS}/table.csv", disagreements.disagreements_csv, name="disagreements_csv"),
    path(f"{DISAGREEMENT}/", disagreements.disagreement, name="disagreement"),
    path(f"{DISAGREEMENT}/tag/", disagreements.disagreement_tag, name="disagreement_tag"),
    path(f"{DISAGREEMENT}/rerating/", disagreements.disagreement_rerating, name="disagreement_rerating"),
    path(f"{EXPERIMENTS}/", experiments.experiments, name="experiments"),
    path(f"{EXPERIMENTS}/new/", making_views.experiment_new, name="experiment_new"),
    path(f"{EXPERIMENTS}/compare/", making_views.experiment_compare, name="experiment_compare"),
    path(f"{EXPERIMENT}/", experiments.experiment, name="experiment"),
    path(f"{EXPERIMENT}/members/", experiments.experiment_members, name="experiment_members"),
    path(f"{EXPERIMENT}/cancel/", making_views.experiment_cancel, name="experiment_cancel"),
    path(f"{EXPERIMENT}/resume/", making_views.experiment_resume, name="experiment_resume"),
    path(f"{EXPERIMENT}/delete/", making_views.experiment_delete, name="experiment_delete"),
    path(f"{EXPERIMENT}/table.<slug:kind>", experiments.experiment_table, name="experiment_table"),
    path(f"{EXPERIMENT}/tables/<slug:name>.csv", experiments.experiment_csv, name="experiment_csv"),
    path(f"{EXPERIMENT}/{FIGURE}", experiments.experiment_figure, name="experiment_figure"),
    path(f"{JUDGES}/", judges.judges, name="judges"),
    path(f"{JUDGES}/new/", version_views.judge_new, name="judge_new"),
    path(f"{JUDGE}/", judges.judge, name="judge"),
    path(f"{VERSION}/", version_views.judge_version, name="judge_version"),
    path(f"{VERSION}/new/", version_views.judge_version_new, name="judge_version_new"),
    path(f"{VERSION}/try/", judges.judge_try, name="judge_try"),
    path(f"{VERSION}/open/", judges.sealed_open, name="sealed_open"),
    path(f"{RATERS}/", raters.raters, name="raters"),
    path(f"{RATERS}/<int:rater_id>/", raters.rater, name="rater"),
    path(f"{RATERS}/<int:rater_id>/without/", raters.rater_without, name="rater_without"),
    path(f"{RECHECKS}/", rechecks.rechecks, name="rechecks"),
    path(f"{RECHECKS}/<int:setup_id>/", rechecks.rechecks_of_setup, name="rechecks_of_setup"),
    path(f"{RECHECKS}/<int:setup_id>/start/", rechecks.recheck_start, name="recheck_start"),
    path(f"{RECHECKS}/<int:setup_id>/schedule/", rechecks.recheck_schedule, name="recheck_schedule"),
    path(f"{TRAININGS}/", curves.trainings, name="trainings"),
    path(f"{TRAININGS}/new/", trainings.training_new, name="training_new"),
    path(f"{CURVES}/new/", new_curves.learning_curve_new, name="learning_curve_new"),
    path(f"{CURVE}/", curves.learning_curve, name="learning_curve"),
    path(f"{CURVE}/models/", curves.learning_curve_models, name="learning_curve_models"),
    path(f"{CURVE}/cancel/", new_curves.learning_curve_cancel, name="learning_curve_cancel"),
    path(f"{CURVE}/resume/", new_curves.learning_curve_resume, name="learning_curve_resume"),
    path(f"{CURVE}/delete/", new_curves.learning_curve_delete, name="learning_curve_delete"),
    path(f"{CURVE}/table.<slug:kind>", curves.learning_curve_table, name="learning_curve_table"),
    path(f"{CURVE}/tables/<slug:name>.csv", curves.learning_curve_csv, name="learning_curve_csv"),
    path(f"{CURVE}/{FIGURE}", curves.learning_curve_figure, name="learning_curve_figure"),
    path(f"{TRAININGS}/import/", model_views.model_import, name="model_import"),
    path(f"{TRAININGS}/register/", model_views.model_register, name="model_register"),
    path(f"{MODEL}.tar", model_views.model_archive, name="model_archive"),
    path(f"{MODEL}/", model_views.model, name="model"),
    path(f"{MODEL}/rename/", model_views.model_rename, name="model_rename"),
    path(f"{MODEL}/delete/", model_views.model_delete, name="model_delete"),
    path(f"{TRAINING}/", trainings.training, name="training"),
    path(f"{TRAINING}/cancel/", trainings.training_cancel, name="training_cancel"),
    path(f"{TRAINING}/resume/", trainings.training_resume, name="training_resume"),
    path(f"{TRAINING}/delete/", trainings.training_delete, name="training_delete"),
    path(f"{TRAINING}/{FIGURE}", trainings.training_figure, name="training_figure"),
]
