"""Starting the runs of a family together: all of them, or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.endpoints.budgets import SMALLEST_BUDGET
from scoring.endpoints.estimates import estimate
from scoring.errors import InvalidFamily, InvalidRun
from scoring.families.values import FEWEST, MOST, as_numbers, kind_of
from scoring.items import EVERYTHING, Selection
from scoring.models import EvaluatorSetup, FamilyMember, Run, RunFamily
from scoring.planning import RunPlan, plan, start, stored_setup


@dataclass(frozen=True)
class FamilyWanted:
    """What somebody asks for."""

    name: str
    evaluator: str
    parameter: str
    values: tuple[str, ...]
    """Of the parameter, one for each member."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The other parameters, as `read_params` takes them."""
    selection: Selection = EVERYTHING
    budget: Decimal | None = None
    """US dollars, for all runs together; None: no limit."""
    delivery: str = Run.Delivery.NOW
    """How requests are sent: a Run.Delivery."""


@dataclass(frozen=True)
class FamilyPlan:
    """What would be started: a run for each value."""

    project: Project
    wanted: FamilyWanted
    members: Sequence[tuple[str, RunPlan]]

    @property
    def to_score(self) -> int:
        """Summaries, counted once for each member."""
        return sum(len(planned.to_score) for _, planned in self.members)

    @property
    def seen(self) -> int:
        """Articles that any member has seen, which are left out for all of them."""
        return len({article for _, planned in self.members for article in planned.evaluator.seen.article_ids})


@dataclass(frozen=True)
class FamilyEstimate:
    """Of all runs together; replies that several of them would ask for count each time."""

    requests: int
    """To be sent."""
    cost: Decimal | None
    """US dollars expected; None where it is not known of some run."""
    cost_at_most: Decimal | None
    no_cost: str


def estimate_family(planned: FamilyPlan) -> FamilyEstimate | None:
    """None for an evaluator that asks no model."""
    each = [found for _, member in planned.members if (found := estimate(member)) is not None]
    if not each:
        return None
    costs = [found.cost for found in each if found.cost is not None]
    at_most = [found.cost_at_most for found in each if found.cost_at_most is not None]
    return FamilyEstimate(
        requests=sum(found.to_send for found in each),
        cost=sum(costs, Decimal(0)) if len(costs) == len(each) else None,
        cost_at_most=sum(at_most, Decimal(0)) if len(at_most) == len(each) else None,
        no_cost=next((found.no_cost for found in each if found.no_cost), ""),
    )


def plan_family(project: Project, wanted: FamilyWanted) -> FamilyPlan:
    """Work out every run without writing anything.

    Raises InvalidFamily, which names each value that cannot be planned and why.
    """
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
            refused[value] = f"it is the same as {first}"
        planned.append((value, member))
    if refused:
        raise InvalidFamily(refused)
    return FamilyPlan(project, wanted, planned)


def start_family(planned: FamilyPlan, user: User) -> RunFamily:
    """Queue the runs as planned. A member that is being computed already is not started a second time.

    A budget is shared equally by the runs started that have something to score, so that each of them can be
    held to its own. Raises InvalidFamily for runs that cannot be started, with nothing written; DomainError
    for a name that is taken; what `require` raises.
    """
    wanted = planned.wanted
    require(user, planned.project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        # In this order, so that of two families started at once none waits for a setup that the other holds.
        in_order = sorted(planned.members, key=lambda each: each[1].fingerprint)
        setups = {value: stored_setup(member) for value, member in in_order}
        new = [
            (value, member)
            for value, member in planned.members
            if not setups[value].runs.filter(status__in=Run.UNFINISHED).exists()
        ]
        share = _share(wanted.budget, sum(bool(member.to_score) for _, member in new))
        refused: dict[str, str] = {}
        for value, member in new:
            try:
                start(member, user, share if member.to_score else None, wanted.delivery)
            except InvalidRun as error:
                refused[value] = str(error)
        if refused:
            raise InvalidFamily(refused)
        return _stored(
            RunFamily(
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
    """Rounded down, so that the shares are never more than the budget."""
    if budget is None or not runs:
        return None
    return (budget / runs).quantize(SMALLEST_BUDGET, ROUND_DOWN)


def family_of_setups(
    project: Project, user: User, name: str, kind: str, labelled: Sequence[tuple[int, str]]
) -> RunFamily:
    """A family of setups that are there already: primary keys, each with what it is called in the family.

    Labels that are numbers put the members in their order. Raises InvalidFamily for labels that will not do,
    DomainError for a name that is taken, a kind that there is not and too few or too many members, NotFound
    for a setup that is not the project's; what `require` raises.
    """
    require(user, project, Permission.MANAGE_RUNS)
    if kind not in RunFamily.Kind:
        raise DomainError(f"kind: found {kind!r}, expected one of {', '.join(RunFamily.Kind.values)}")
    if not FEWEST <= len(labelled) <= MOST:
        raise DomainError(f"found {len(labelled)} picked, expected {FEWEST} to {MOST} evaluators")
    with transaction.atomic():
        own = EvaluatorSetup.objects.filter(project=project)
        members = [(label.strip(), one_of(own, pk, "evaluator")) for pk, label in labelled]
        labels = [label for label, _ in members]
        refused = {
            setup.label: "it has no name in the family" if not label else f"{label} is there already"
            for place, (label, setup) in enumerate(members)
            if not label or label in labels[:place]
        }
        if refused:
            raise InvalidFamily(refused)
        numbers = as_numbers(labels)
        if kind == RunFamily.Kind.EXAMPLES and numbers is None:
            raise InvalidFamily(
                {label: "expected a number of examples" for label in labels if as_numbers([label]) is None}
            )
        if numbers is not None:
            members = [member for _, member in sorted(zip(numbers, members, strict=True), key=_number)]
        return _stored(RunFamily(project=project, name=name, kind=kind, created_by=user), members)


def _number(numbered: tuple[float, object]) -> float:
    return numbered[0]


def _stored(family: RunFamily, members: Sequence[tuple[str, EvaluatorSetup]]) -> RunFamily:
    # Of two people who choose one name at once the second waits for the project, and then sees it taken.
    Project.objects.select_for_update().get(pk=family.project_id)
    family.name = family.name.strip()
    if not family.name:
        raise DomainError("name: found none, expected what the experiment is to be called")
    if RunFamily.objects.filter(project=family.project_id, name=family.name).exists():
        raise DomainError(f"name: {family.name!r} is another experiment of this project; choose another name")
    family.save()
    FamilyMember.objects.bulk_create(
        FamilyMember(family=family, setup=setup, label=label, position=position)
        for position, (label, setup) in enumerate(members)
    )
    return family
