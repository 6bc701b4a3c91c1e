"""Starting the runs of an experiment, and experiments of existing setups."""

from dataclasses import replace
from decimal import Decimal

import pytest

from annotation.errors import DomainError, NotAllowed, NotFound
from metaeval.experiments.starting import (
    ExperimentRequest,
    estimate_experiment,
    experiment_of_setups,
    plan_experiment,
    start_experiment,
)
from scoring.errors import InvalidExperiment
from scoring.models import EndpointModel, Experiment, Run, Setup
from scoring.runs.estimates import estimate
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_setup
from tests.scoring.asking_projects import MODEL, asking_project, price
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db

SAME = {"stem": "yes", "against": "article"}
VARIANTS = ExperimentRequest("Which ROUGE", "rouge", "variant", ("1", "2", "L"), SAME)


def test_experiment_has_a_run_per_value_with_equal_other_parameters(project, starter):
    experiment = start_experiment(plan_experiment(project, VARIANTS), starter)
    members = list(experiment.members.select_related("setup"))
    assert [member.label for member in members] == ["1", "2", "L"]
    assert [member.setup.params["variant"] for member in members] == ["1", "2", "L"]
    assert all(member.setup.params["stem"] is True for member in members)
    runs = Run.objects.filter(setup__experiments=experiment)
    assert {(run.status, run.total, run.created_by, run.budget) for run in runs} == {
        ("queued", 3, starter, None)
    }
    assert (experiment.kind, experiment.evaluator, experiment.parameter) == ("parameter", "rouge", "variant")
    assert experiment.params == SAME


def test_one_invalid_value_stops_all_runs_and_is_named(project, starter):
    wanted = ExperimentRequest("Shares", "copy_rate", "share", ("0.1", "7", "much"))
    with pytest.raises(InvalidExperiment) as refusal:
        plan_experiment(project, wanted)
    assert set(refusal.value.refused) == {"7", "much"}
    assert "0.01" in refusal.value.refused["7"]
    assert not Run.objects.exists()


def test_two_spellings_of_one_value_are_refused(project):
    with pytest.raises(InvalidExperiment, match=r"0\.50: same as 0\.5"):
        plan_experiment(project, ExperimentRequest("Shares", "copy_rate", "share", ("0.5", "0.50")))


def test_existing_scores_are_reused_and_unfinished_runs_are_shared(project, starter):
    done = plan_run(project, "rouge", {"variant": "1", **SAME})
    work_on_run(done.pk)
    waiting = plan_run(project, "rouge", {"variant": "2", **SAME})
    planned = plan_experiment(project, VARIANTS)
    assert [(value, len(plan.to_score), plan.reused) for value, plan in planned.members] == [
        ("1", 0, 3),
        ("2", 3, 0),
        ("L", 3, 0),
    ]
    assert planned.to_score == 6
    experiment = start_experiment(planned, starter)
    by_label = {member.label: member.setup for member in experiment.members.all()}
    assert by_label["1"].runs.first().status == Run.Status.DONE
    assert list(by_label["2"].runs.all()) == [waiting]
    again = ExperimentRequest("Two of them", "rouge", "variant", ("1", "L"), SAME)
    second = start_experiment(plan_experiment(project, again), starter)
    assert set(second.setups.all()) < set(experiment.setups.all())


def test_taken_or_missing_name_starts_no_run(project, starter):
    start_experiment(plan_experiment(project, VARIANTS), starter)
    runs = Run.objects.count()
    other = ExperimentRequest(" Which ROUGE ", "copy_rate", "share", ("0.1", "0.2"))
    with pytest.raises(DomainError, match="already has an experiment"):
        start_experiment(plan_experiment(project, other), starter)
    assert (Run.objects.count(), Experiment.objects.count()) == (runs, 1)
    unnamed = ExperimentRequest("  ", "copy_rate", "share", ("0.1", "0.2"))
    with pytest.raises(DomainError, match="name: enter a name"):
        start_experiment(plan_experiment(project, unnamed), starter)


def test_raters_cannot_start_an_experiment(project):
    rater = make_rater(project)
    with pytest.raises(NotAllowed):
        start_experiment(plan_experiment(project, VARIANTS), rater.user)
    with pytest.raises(NotAllowed):
        experiment_of_setups(project, rater.user, "Mine", "models", [])
    assert not Setup.objects.exists()


class TestMoney:
    """Budgets and estimates of experiments with a language model; no request is sent."""

    @pytest.fixture
    def endpoint(self):
        with ScriptedEndpoint() as endpoint:
            yield endpoint
            assert not endpoint.asked

    @pytest.fixture
    def project(self):
        return asking_project(5)

    @pytest.fixture
    def seeds(self, endpoint, settings):
        settings.LLM_ENDPOINTS = [endpoint.base_url]
        params = {
            "model": MODEL,
            "base_url": endpoint.base_url,
            "dimensions": "attribution",
            "examples": "1",
            "pool_articles": "1",
        }
        return ExperimentRequest("Seeds", "ice", "seed", ("0", "1", "2"), params)

    def test_budget_is_shared_equally_without_exceeding_it(self, project, starter, endpoint, seeds):
        price(project, endpoint, "2", "8")
        wanted = replace(seeds, budget=Decimal("1"))
        experiment = start_experiment(plan_experiment(project, wanted), starter)
        budgets = [member.setup.runs.get().budget for member in experiment.members.all()]
        assert budgets == [Decimal("0.3333")] * 3
        assert sum(budgets) <= 1

    def test_all_runs_can_be_sent_as_batches(self, project, starter, seeds):
        start_experiment(plan_experiment(project, replace(seeds, delivery=Run.Delivery.BATCH)), starter)
        assert set(Run.objects.values_list("delivery", flat=True)) == {Run.Delivery.BATCH}

    def test_no_run_is_started_without_a_batch_api(self, project, starter, endpoint, seeds):
        price(project, endpoint, "2", "8")
        EndpointModel.objects.update(abilities={"batches": False})
        with pytest.raises(InvalidExperiment, match="no batch API"):
            start_experiment(plan_experiment(project, replace(seeds, delivery=Run.Delivery.BATCH)), starter)
        assert not Run.objects.exists()

    def test_unfinished_run_keeps_its_budget_and_takes_no_share(self, project, starter, endpoint, seeds):
        price(project, endpoint, "2", "8")
        first = plan_run(project, "ice", {**seeds.params, "seed": "0"}, starter)
        experiment = start_experiment(plan_experiment(project, replace(seeds, budget=Decimal("1"))), starter)
        budgets = [member.setup.runs.get().budget for member in experiment.members.all()]
        assert budgets == [None, Decimal("0.5"), Decimal("0.5")]
        first.refresh_from_db()
        assert first.budget is None

    def test_budget_without_a_price_stops_all_runs(self, project, starter, seeds):
        planned = plan_experiment(project, replace(seeds, budget=Decimal("1")))
        with pytest.raises(InvalidExperiment, match="needs a price") as refusal:
            start_experiment(planned, starter)
        assert set(refusal.value.refused) == {"0", "1", "2"}
        assert not Run.objects.exists()
        assert not Setup.objects.exists()
        assert not Experiment.objects.exists()

    def test_estimate_is_the_sum_over_the_runs(self, project, endpoint, seeds):
        planned = plan_experiment(project, seeds)
        found = estimate_experiment(planned)
        assert (found.requests, found.cost) == (15, None)
        assert "has no price" in found.no_cost
        price(project, endpoint, "2", "8")
        each = [estimate(member) for _, member in planned.members]
        found = estimate_experiment(planned)
        assert found.cost == sum(one.cost for one in each)
        assert found.cost_at_most == sum(one.cost_at_most for one in each)
        assert found.no_cost == ""

    def test_evaluator_without_a_language_model_has_no_estimate(self, project):
        assert estimate_experiment(plan_experiment(project, VARIANTS)) is None


class TestOfSetups:
    @pytest.fixture
    def setups(self, project):
        return [make_setup(project, label) for label in ("one", "two", "three")]

    def test_numeric_labels_put_members_in_order(self, project, starter, setups):
        labelled = list(zip([setup.pk for setup in setups], ["10", " 9 ", "2.5"], strict=True))
        experiment = experiment_of_setups(project, starter, "Numbers", "examples", labelled)
        assert [member.label for member in experiment.members.all()] == ["2.5", "9", "10"]
        assert list(experiment.setups.order_by("memberships__position")) == setups[::-1]
        assert experiment.evaluator == ""

    def test_other_labels_keep_the_given_order(self, project, starter, setups):
        labelled = [(setup.pk, name) for setup, name in zip(setups, "bac", strict=True)]
        experiment = experiment_of_setups(project, starter, "Letters", "models", labelled)
        assert [member.label for member in experiment.members.all()] == ["b", "a", "c"]

    @pytest.mark.parametrize(
        ("kind", "labels", "told"),
        [
            ("seeds", ["1"], "1 evaluators selected, expected 2 to 64"),
            ("seeds", ["1", "1", " "], "two: 1 is used twice; three: needs a name"),
            ("examples", ["1", "many", "3"], "many: expected a number of examples"),
            ("colours", ["1", "2"], "kind: found 'colours', expected one of sampling, seeds"),
        ],
    )
    def test_invalid_selection_is_refused(self, project, starter, setups, kind, labels, told):
        labelled = [(setup.pk, label) for setup, label in zip(setups, labels, strict=False)]
        with pytest.raises(DomainError, match=told):
            experiment_of_setups(project, starter, "Wrong", kind, labelled)
        assert not Experiment.objects.exists()

    def test_setups_of_other_projects_are_not_found(self, project, starter, setups):
        foreign = make_setup(make_project(), "foreign")
        with pytest.raises(NotFound):
            experiment_of_setups(
                project, starter, "Mixed", "models", [(setups[0].pk, "a"), (foreign.pk, "b")]
            )
