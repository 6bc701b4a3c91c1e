"""Addresses of the pages with results."""

from django.urls import path

from metaeval.views import (
    agreement,
    alignment,
    card,
    disagreements,
    experiment_making,
    experiments,
    figures,
    judge_versions,
    metaeval,
    planning,
    steadiness,
    summaries,
    systems,
)

DISAGREEMENT = (
    "projects/<slug:slug>/meta-evaluation/disagreements/<int:setup_id>/<slug:question_key>/<int:summary_id>"
)
JUDGE = "projects/<slug:slug>/alignment/<int:judge_id>"
EXPERIMENTS = "projects/<slug:slug>/meta-evaluation/experiments"
EXPERIMENT = f"{EXPERIMENTS}/<int:family_id>"

urlpatterns = [
    path("projects/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path(
        "projects/<slug:slug>/agreement/table.<slug:kind>", agreement.agreement_table, name="agreement_table"
    ),
    path("projects/<slug:slug>/meta-evaluation/", metaeval.metaeval, name="metaeval"),
    path(
        "projects/<slug:slug>/meta-evaluation/table.<slug:kind>",
        metaeval.metaeval_table,
        name="metaeval_table",
    ),
    path("projects/<slug:slug>/meta-evaluation/card/", card.evaluator_card, name="evaluator_card"),
    path(
        "projects/<slug:slug>/meta-evaluation/card/table.csv",
        card.evaluator_card_table,
        name="evaluator_card_table",
    ),
    path(
        "projects/<slug:slug>/meta-evaluation/card/figures/<slug:name>.<slug:kind>",
        figures.evaluator_card_figure,
        name="evaluator_card_figure",
    ),
    path(
        "projects/<slug:slug>/meta-evaluation/significance.csv",
        metaeval.significance_csv,
        name="significance_csv",
    ),
    path("projects/<slug:slug>/meta-evaluation/how-computed.txt", metaeval.metaeval_how, name="metaeval_how"),
    path("projects/<slug:slug>/meta-evaluation/levels.csv", metaeval.levels_csv, name="levels_csv"),
    path("projects/<slug:slug>/meta-evaluation/systems.csv", metaeval.systems_csv, name="systems_csv"),
    path("projects/<slug:slug>/meta-evaluation/planning/", planning.planning, name="planning"),
    path(
        "projects/<slug:slug>/meta-evaluation/planning/table.csv", planning.planning_csv, name="planning_csv"
    ),
    path("projects/<slug:slug>/meta-evaluation/systems/", systems.systems, name="systems"),
    path(
        "projects/<slug:slug>/meta-evaluation/systems/labels.csv",
        systems.system_labels_csv,
        name="system_labels_csv",
    ),
    path(
        "projects/<slug:slug>/meta-evaluation/systems/scores.csv",
        systems.system_scores_csv,
        name="system_scores_csv",
    ),
    path(
        "projects/<slug:slug>/agreement/figures/<slug:name>.<slug:kind>",
        figures.agreement_figure,
        name="agreement_figure",
    ),
    path(
        "projects/<slug:slug>/meta-evaluation/figures/<slug:name>.<slug:kind>",
        figures.metaeval_figure,
        name="metaeval_figure",
    ),
    path(
        "projects/<slug:slug>/meta-evaluation/summaries/",
        summaries.metaeval_summaries,
        name="metaeval_summaries",
    ),
    path(
        "projects/<slug:slug>/summaries/<int:summary_id>/scores/",
        summaries.summary_scores,
        name="summary_scores",
    ),
    path(
        "projects/<slug:slug>/meta-evaluation/disagreements/",
        disagreements.disagreements,
        name="disagreements",
    ),
    path(
        "projects/<slug:slug>/meta-evaluation/disagreements/table.csv",
        disagreements.disagreements_csv,
        name="disagreements_csv",
    ),
    path(
        f"{DISAGREEMENT}/",
        disagreements.disagreement,
        name="disagreement",
    ),
    path(
        f"{DISAGREEMENT}/tag/",
        disagreements.disagreement_tag,
        name="disagreement_tag",
    ),
    path(
        f"{DISAGREEMENT}/rerating/",
        disagreements.disagreement_rerating,
        name="disagreement_rerating",
    ),
    path(f"{EXPERIMENTS}/", experiments.experiments, name="experiments"),
    path(f"{EXPERIMENTS}/new/", experiment_making.experiment_new, name="experiment_new"),
    path(f"{EXPERIMENTS}/compare/", experiment_making.experiment_compare, name="experiment_compare"),
    path(f"{EXPERIMENT}/", experiments.experiment, name="experiment"),
    path(f"{EXPERIMENT}/members/", experiments.experiment_members, name="experiment_members"),
    path(f"{EXPERIMENT}/cancel/", experiment_making.experiment_cancel, name="experiment_cancel"),
    path(f"{EXPERIMENT}/resume/", experiment_making.experiment_resume, name="experiment_resume"),
    path(f"{EXPERIMENT}/delete/", experiment_making.experiment_delete, name="experiment_delete"),
    path(f"{EXPERIMENT}/table.<slug:kind>", experiments.experiment_table, name="experiment_table"),
    path(f"{EXPERIMENT}/tables/<slug:name>.csv", experiments.experiment_csv, name="experiment_csv"),
    path(
        f"{EXPERIMENT}/figures/<slug:name>.<slug:kind>",
        experiments.experiment_figure,
        name="experiment_figure",
    ),
    path("projects/<slug:slug>/alignment/", alignment.alignment, name="alignment"),
    path("projects/<slug:slug>/alignment/new/", judge_versions.judge_new, name="judge_new"),
    path(f"{JUDGE}/", alignment.judge, name="judge"),
    path(f"{JUDGE}/versions/<int:number>/", judge_versions.judge_version, name="judge_version"),
    path(f"{JUDGE}/versions/<int:number>/new/", judge_versions.judge_version_new, name="judge_version_new"),
    path(f"{JUDGE}/versions/<int:number>/try/", alignment.judge_try, name="judge_try"),
    path(f"{JUDGE}/versions/<int:number>/open/", alignment.sealed_open, name="sealed_open"),
    path("projects/<slug:slug>/steadiness/", steadiness.steadiness, name="steadiness"),
    path(
        "projects/<slug:slug>/steadiness/<int:setup_id>/",
        steadiness.steadiness_setup,
        name="steadiness_setup",
    ),
    path(
        "projects/<slug:slug>/steadiness/<int:setup_id>/start/",
        steadiness.steadiness_start,
        name="steadiness_start",
    ),
    path(
        "projects/<slug:slug>/steadiness/<int:setup_id>/schedule/",
        steadiness.steadiness_schedule,
        name="steadiness_schedule",
    ),
]
