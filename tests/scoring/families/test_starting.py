"""Starting the runs of a family together, and families of what is there."""

from dataclasses import replace
from decimal import Decimal

import pytest

from annotation.errors import DomainError, NotAllowed, NotFound
from scoring.endpoints.estimates import estimate
from scoring.errors import InvalidFamily
from scoring.families.starting import (
    FamilyWanted,
    estimate_family,
    family_of_setups,
    plan_family,
    start_family,
)
from scoring.models import EndpointModel, EvaluatorSetup, Run, RunFamily
from scoring.planning import plan_run
from scoring.working import work_on_run
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_setup
from tests.scoring.asking_projects import MODEL, asking_project, price
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db

SAME = {"stem": "yes", "against": "article"}
VARIANTS = FamilyWanted("Which ROUGE", "rouge", "variant", ("1", "2", "L"), SAME)


def test_there_is_a_run_for_each_value_with_all_else_the_same(project, researcher):
    family = start_family(plan_family(project, VARIANTS), researcher)
    members = list(family.members.select_related("setup"))
    assert [member.label for member in members] == ["1", "2", "L"]
    assert [member.setup.params["variant"] for member in members] == ["1", "2", "L"]
    assert all(member.setup.params["stem"] is True for member in members)
    runs = Run.objects.filter(setup__families=family)
    assert {(run.status, run.total, run.created_by, run.budget) for run in runs} == {
        ("queued", 3, researcher, None)
    }
    assert (family.kind, family.evaluator, family.parameter) == ("parameter", "rouge", "variant")
    assert family.params == SAME


def test_one_value_that_cannot_be_stops_all_and_is_named(project, researcher):
    wanted = FamilyWanted("Shares", "copy_rate", "share", ("0.1", "7", "much"))
    with pytest.raises(InvalidFamily) as refusal:
        plan_family(project, wanted)
    assert set(refusal.value.refused) == {"7", "much"}
    assert "0.01" in refusal.value.refused["7"]
    assert not Run.objects.exists()


def test_two_ways_to_write_one_value_are_one_member(project):
    with pytest.raises(InvalidFamily, match=r"0\.50: it is the same as 0\.5"):
        plan_family(project, FamilyWanted("Shares", "copy_rate", "share", ("0.5", "0.50")))


def test_scores_that_are_there_are_reused_and_runs_under_way_are_shared(project, researcher):
    done = plan_run(project, "rouge", {"variant": "1", **SAME})
    work_on_run(done.pk)
    waiting = plan_run(project, "rouge", {"variant": "2", **SAME})
    planned = plan_family(project, VARIANTS)
    assert [(value, len(plan.to_score), plan.reused) for value, plan in planned.members] == [
        ("1", 0, 3),
        ("2", 3, 0),
        ("L", 3, 0),
    ]
    assert planned.to_score == 6
    family = start_family(planned, researcher)
    by_label = {member.label: member.setup for member in family.members.all()}
    assert by_label["1"].runs.first().status == Run.Status.DONE
    assert list(by_label["2"].runs.all()) == [waiting]
    again = FamilyWanted("Two of them", "rouge", "variant", ("1", "L"), SAME)
    second = start_family(plan_family(project, again), researcher)
    assert set(second.setups.all()) < set(family.setups.all())


def test_a_name_is_taken_once_and_nothing_is_started_for_the_second(project, researcher):
    start_family(plan_family(project, VARIANTS), researcher)
    runs = Run.objects.count()
    other = FamilyWanted(" Which ROUGE ", "copy_rate", "share", ("0.1", "0.2"))
    with pytest.raises(DomainError, match="another experiment"):
        start_family(plan_family(project, other), researcher)
    assert (Run.objects.count(), RunFamily.objects.count()) == (runs, 1)
    unnamed = FamilyWanted("  ", "copy_rate", "share", ("0.1", "0.2"))
    with pytest.raises(DomainError, match="name: found none"):
        start_family(plan_family(project, unnamed), researcher)


def test_whoever_rates_starts_nothing(project):
    rater = make_rater(project)
    with pytest.raises(NotAllowed):
        start_family(plan_family(project, VARIANTS), rater.user)
    with pytest.raises(NotAllowed):
        family_of_setups(project, rater.user, "Mine", "models", [])
    assert not EvaluatorSetup.objects.exists()


class TestMoney:
    """Of families that ask a model; nothing is sent."""

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
        return FamilyWanted("Seeds", "ice", "seed", ("0", "1", "2"), params)

    def test_a_budget_is_shared_equally_and_never_more_than_it(self, project, researcher, endpoint, seeds):
        price(project, endpoint, "2", "8")
        wanted = replace(seeds, budget=Decimal("1"))
        family = start_family(plan_family(project, wanted), researcher)
        budgets = [member.setup.runs.get().budget for member in family.members.all()]
        assert budgets == [Decimal("0.3333")] * 3
        assert sum(budgets) <= 1

    def test_all_of_them_can_be_sent_as_batches(self, project, researcher, seeds):
        start_family(plan_family(project, replace(seeds, delivery=Run.Delivery.BATCH)), researcher)
        assert set(Run.objects.values_list("delivery", flat=True)) == {Run.Delivery.BATCH}

    def test_where_there_are_no_batches_none_is_started(self, project, researcher, endpoint, seeds):
        price(project, endpoint, "2", "8")
        EndpointModel.objects.update(abilities={"batches": False})
        with pytest.raises(InvalidFamily, match="takes no batches"):
            start_family(plan_family(project, replace(seeds, delivery=Run.Delivery.BATCH)), researcher)
        assert not Run.objects.exists()

    def test_a_run_under_way_keeps_its_budget_and_takes_no_share(self, project, researcher, endpoint, seeds):
        price(project, endpoint, "2", "8")
        first = plan_run(project, "ice", {**seeds.params, "seed": "0"}, researcher)
        family = start_family(plan_family(project, replace(seeds, budget=Decimal("1"))), researcher)
        budgets = [member.setup.runs.get().budget for member in family.members.all()]
        assert budgets == [None, Decimal("0.5"), Decimal("0.5")]
        first.refresh_from_db()
        assert first.budget is None

    def test_a_budget_that_cannot_be_kept_stops_all(self, project, researcher, seeds):
        planned = plan_family(project, replace(seeds, budget=Decimal("1")))
        with pytest.raises(InvalidFamily, match="no price is known") as refusal:
            start_family(planned, researcher)
        assert set(refusal.value.refused) == {"0", "1", "2"}
        assert not Run.objects.exists()
        assert not EvaluatorSetup.objects.exists()
        assert not RunFamily.objects.exists()

    def test_the_estimate_is_the_sum_of_the_runs(self, project, endpoint, seeds):
        planned = plan_family(project, seeds)
        found = estimate_family(planned)
        assert (found.requests, found.cost) == (15, None)
        assert "No price is known" in found.no_cost
        price(project, endpoint, "2", "8")
        each = [estimate(member) for _, member in planned.members]
        found = estimate_family(planned)
        assert found.cost == sum(one.cost for one in each)
        assert found.cost_at_most == sum(one.cost_at_most for one in each)
        assert found.no_cost == ""

    def test_who_asks_no_model_costs_nothing(self, project):
        assert estimate_family(plan_family(project, VARIANTS)) is None


class TestOfSetups:
    @pytest.fixture
    def setups(self, project):
        return [make_setup(project, label) for label in ("one", "two", "three")]

    def test_names_that_are_numbers_put_members_in_order(self, project, researcher, setups):
        labelled = list(zip([setup.pk for setup in setups], ["10", " 9 ", "2.5"], strict=True))
        family = family_of_setups(project, researcher, "Numbers", "examples", labelled)
        assert [member.label for member in family.members.all()] == ["2.5", "9", "10"]
        assert list(family.setups.order_by("memberships__position")) == setups[::-1]
        assert family.evaluator == ""

    def test_others_stay_as_given(self, project, researcher, setups):
        labelled = [(setup.pk, name) for setup, name in zip(setups, "bac", strict=True)]
        family = family_of_setups(project, researcher, "Letters", "models", labelled)
        assert [member.label for member in family.members.all()] == ["b", "a", "c"]

    @pytest.mark.parametrize(
        ("kind", "labels", "told"),
        [
            ("seeds", ["1"], "found 1 picked, expected 2 to 64 evaluators"),
            ("seeds", ["1", "1", " "], "two: 1 is there already; three: it has no name"),
            ("examples", ["1", "many", "3"], "many: expected a number of examples"),
            ("colours", ["1", "2"], "kind: found 'colours', expected one of sampling, seeds"),
        ],
    )
    def test_what_makes_no_family_is_refused(self, project, researcher, setups, kind, labels, told):
        labelled = [(setup.pk, label) for setup, label in zip(setups, labels, strict=False)]
        with pytest.raises(DomainError, match=told):
            family_of_setups(project, researcher, "Wrong", kind, labelled)
        assert not RunFamily.objects.exists()

    def test_setups_of_other_projects_do_not_exist(self, project, researcher, setups):
        foreign = make_setup(make_project(), "foreign")
        with pytest.raises(NotFound):
            family_of_setups(project, researcher, "Mixed", "models", [(setups[0].pk, "a"), (foreign.pk, "b")])
