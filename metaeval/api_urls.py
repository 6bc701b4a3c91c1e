"""URLs of the API's results."""

from django.urls import path

from metaeval.across_projects.api import across_projects
from metaeval.agreement.api import agreement
from metaeval.card.api import evaluator_card
from metaeval.comparison.api import comparison
from metaeval.experiments.api import experiment_list
from metaeval.judges.api import judge_list, judge_trials
from metaeval.learning_curves.api import learning_curve_figures, learning_curve_list
from metaeval.preregistrations.api import preregistration_list
from metaeval.rechecks.api import recheck_list

urlpatterns = [
    path("projects/<slug:slug>/across-projects/", across_projects, name="api_across_projects"),
    path("projects/<slug:slug>/agreement/", agreement, name="api_agreement"),
    path("projects/<slug:slug>/comparison/", comparison, name="api_comparison"),
    path("projects/<slug:slug>/evaluator-card/", evaluator_card, name="api_evaluator_card"),
    path("projects/<slug:slug>/experiments/", experiment_list, name="api_experiments"),
    path("projects/<slug:slug>/judges/", judge_list, name="api_judges"),
    path("projects/<slug:slug>/judges/<int:judge_id>/", judge_trials, name="api_judge"),
    path("projects/<slug:slug>/learning-curves/", learning_curve_list, name="api_learning_curves"),
    path(
        "projects/<slug:slug>/learning-curves/<int:curve_id>/",
        learning_curve_figures,
        name="api_learning_curve",
    ),
    path("projects/<slug:slug>/preregistrations/", preregistration_list, name="api_preregistrations"),
    path("projects/<slug:slug>/rechecks/", recheck_list, name="api_rechecks"),
]
