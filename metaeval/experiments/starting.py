"""Starting the runs of an experiment: all of them or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from operator import itemgetter
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from metaeval.experiments.values import FEWEST, MOST, as_numbers, kind_of
from scoring.errors import InvalidExperiment, InvalidRun
from scoring.inputs.items import EVERYTHING, Selection
from scoring.inputs.seen_articles import seen_articles
from scoring.models import Experiment, ExperimentMember, Run, Setup
from scoring.replies.budgets import SMALLEST_BUDGET
from scoring.runs.estimates import estimate
from scoring.runs.planning import RunPlan, plan, start, stored_setup


@dataclass(frozen=True)
class ExperimentRequest:
    """The experiment that somebody wants to start."""

    name: str
    evaluator: str
    parameter: str
    values: tuple[str, ...]
    """Values of the parameter, one for each member."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The other parameters, as `read_params` takes them."""
    selection: Selection = EVERYTHING
    budget: Decimal | None = None
    """US dollars for all runs together; None for no limit."""
    delivery: str = Run.Delivery.NOW
    """A Run.Delivery."""


@dataclass(frozen=True)
class ExperimentPlan:
    """The runs that would be started, one for each value."""

    project: Project
    wanted: ExperimentRequest
    members: Sequence[tuple[str, RunPlan]]

    @property
    def to_score(self) -> int:
        """Summaries to score, counted once for each member."""
        return sum(len(planned.to_score) for _, planned in self.members)

    @property
    def seen(self) -> int:
        """Articles that any member has seen, which are left out for all."""
        each = (seen_articles(self.project, planned.evaluator.seen) for _, planned in self.members)
        return len(frozenset[int]().union(*each))


@dataclass(frozen=True)
class ExperimentEstimate:
    """The estimate of all runs together. Requests that several runs share count each time."""

    requests: int
    """Requests to send."""
    is_extrapolated: bool
    """True if the requests of some run are extrapolated from a sample."""
    cost: Decimal | None
    """Expected US dollars; None if the cost of some run is unknown."""
    cost_at_most: Decimal | None
    no_cost: str


def estimate_experiment(planned: ExperimentPlan) -> ExperimentEstimate | None:
    """Estimate all runs together; None for an evaluator that asks no model."""
    each = [found for _, member in planned.members if (found := estimate(member)) is not None]
    if not each:
        return None
    costs = [found.cost for found in each if found.cost is not None]
    at_most = [found.cost_at_most for found in each if found.cost_at_most is not None]
    return ExperimentEstimate(
        requests=sum(found.to_send for found in each),
        is_extrapolated=any(found.is_extrapolated for found in each),
        cost=sum(costs, Decimal(0)) if len(costs) == len(each) else None,
        cost_at_most=sum(at_most, Decimal(0)) if len(at_most) == len(each) else None,
        no_cost=next((found.no_cost for found in each if found.no_cost), ""),
    )


def plan_experiment(project: Project, wanted: ExperimentRequest) -> ExperimentPlan:
    """Plan every run without writing anything. Raises InvalidExperiment with the invalid values."""
    planned: list[tuple[str, RunPlan]] = []
    refused: dict[str, str] = {}
    by_fingerprint: dict[str, str] = {}
    for value in wanted.values:
        try:
            member = plan(
                project, wanted.evaluator, {**wanted.params, wanted.parameter: value}, wanted.selection
            )
        except InvalidRun as error:
            refused[value] = str(error)
            continue
        first = by_fingerprint.setdefault(member.fingerprint, value)
        if first != value:
            refused[value] = f"same as {first}"
        planned.append((value, member))
    if refused:
        raise InvalidExperiment(refused)
    return ExperimentPlan(project, wanted, planned)


def start_experiment(planned: ExperimentPlan, user: User) -> Experiment:
    """Start the planned runs, except those of setups that already have a run in progress.

    Runs with something to score share the budget equally. Raises InvalidExperiment, with nothing written, if
    runs cannot be started; DomainError if the name is taken; also as `require`.
    """
    wanted = planned.wanted
    require(user, planned.project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        # Ordered, so that two experiments started at once do not deadlock on setups.
        in_order = sorted(planned.members, key=lambda each: each[1].fingerprint)
        setups = {value: stored_setup(member) for value, member in in_order}
        new = [
            (value, member)
            for value, member in planned.members
            if not setups[value].runs.of_scores().filter(status__in=Run.UNFINISHED).exists()
        ]
        share = _share(wanted.budget, sum(bool(member.to_score) for _, member in new))
        refused: dict[str, str] = {}
        for value, member in new:
            try:
                start(member, user, share if member.to_score else None, wanted.delivery)
            except InvalidRun as error:
                refused[value] = str(error)
        if refused:
            raise InvalidExperiment(refused)
        return _stored(
            Experiment(
                project=planned.project,
                name=wanted.name,
                kind=kind_of(wanted.parameter),
                evaluator=wanted.evaluator,
                parameter=wanted.parameter,
                params=dict(wanted.params),
                created_by=user,
            ),
            [(value, setups[value]) for value in wanted.values],
        )


def _share(budget: Decimal | None, runs: int) -> Decimal | None:
    """Return each run's share of the budget, rounded down."""
    if budget is None or not runs:
        return None
    return (budget / runs).quantize(SMALLEST_BUDGET, ROUND_DOWN)


def experiment_of_setups(
    project: Project, user: User, name: str, kind: str, labelled: Sequence[tuple[int, str]]
) -> Experiment:
    """Store an experiment of existing setups, given as primary keys with their labels in the experiment.

    If all labels are numbers, they order the members. Raises InvalidExperiment for invalid labels;
    DomainError for a taken name, an unknown kind, and too few or too many members; NotFound for a setup of
    another project; also as `require`.
    """
    require(user, project, Permission.MANAGE_RUNS)
    if kind not in Experiment.Kind:
        raise DomainError(f"kind: found {kind!r}, expected one of {', '.join(Experiment.Kind.values)}")
    if not FEWEST <= len(labelled) <= MOST:
        raise DomainError(f"{len(labelled)} evaluators selected, expected {FEWEST} to {MOST}")
    with transaction.atomic():
        own = Setup.objects.filter(project=project)
        members = [(label.strip(), one_of(own, pk, "evaluator")) for pk, label in labelled]
        labels = [label for label, _ in members]
        refused = {
            setup.label: "needs a name in the experiment" if not label else f"{label} is used twice"
            for place, (label, setup) in enumerate(members)
            if not label or label in labels[:place]
        }
        if refused:
            raise InvalidExperiment(refused)
        numbers = as_numbers(labels)
        if kind == Experiment.Kind.EXAMPLES and numbers is None:
            raise InvalidExperiment(
                {label: "expected a number of examples" for label in labels if as_numbers([label]) is None}
            )
        if numbers is not None:
            ordered = sorted(zip(numbers, members, strict=True), key=itemgetter(0))
            members = [member for _, member in ordered]
        return _stored(Experiment(project=project, name=name, kind=kind, created_by=user), members)


def _stored(experiment: Experiment, members: Sequence[tuple[str, Setup]]) -> Experiment:
    # The lock makes the second of two simultaneous requests see that the name is taken.
    Project.objects.select_for_update().get(pk=experiment.project_id)
    experiment.name = experiment.name.strip()
    if not experiment.name:
        raise DomainError("name: enter a name for the experiment")
    if Experiment.objects.filter(project=experiment.project_id, name=experiment.name).exists():
        raise DomainError(
            f"name: this project already has an experiment called {experiment.name!r}; choose another name"
        )
    experiment.save()
    ExperimentMember.objects.bulk_create(
        ExperimentMember(experiment=experiment, setup=setup, label=label, position=position)
        for position, (label, setup) in enumerate(members)
    )
    return experiment
