"""What a run would ask and what that would cost, before anything is sent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import ceil, floor

from django.db.models import Count, Sum

from scoring.asking.request import Address, Request, Usage
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import Evaluator, Item
from scoring.endpoints.prices import Price, most_used, price_of
from scoring.endpoints.remembered import known_model
from scoring.endpoints.stored_replies import stored
from scoring.items import items_of
from scoring.models import EndpointModel
from scoring.planning import RunPlan

LOOKED_AT = 120
"""Summaries whose requests are made; of a larger run these are spread evenly over it."""
SHOWN = 3
LEARNT_FROM = 500
"""Latest replies of the model whose tokens tell how many others will take."""
USUAL_SHARE = Fraction(1, 2)
"""Of the bound on a prompt's tokens, as long as no reply of the model has told: English takes 0.4."""


@dataclass(frozen=True)
class ShownPrompt:
    """What would be sent for one summary."""

    item: str
    system: str
    prompt: str


@dataclass(frozen=True)
class Estimate:
    """Requests, tokens and US dollars of a run; those that are stored already cost nothing."""

    summaries: int
    looked_at: int
    """Summaries from which the numbers are extrapolated; all of them where it is `summaries`."""
    requests: int
    stored: int
    """Of the requests, those whose replies are there."""
    prompt_tokens: int
    """Expected, of the requests to be sent, as are all that follow."""
    prompt_tokens_at_most: int
    completion_tokens: int
    completion_tokens_at_most: int
    is_learnt: bool
    """Whether what is expected comes from earlier replies of the model."""
    cost: Decimal | None
    cost_at_most: Decimal | None
    no_cost: str
    """Why no cost is known; empty where one is."""
    prompts: tuple[ShownPrompt, ...]

    @property
    def to_send(self) -> int:
        return self.requests - self.stored

    @property
    def is_extrapolated(self) -> bool:
        return self.looked_at < self.summaries


@dataclass(frozen=True)
class _Habits:
    """How many tokens earlier requests to a model took."""

    share: Fraction
    """Of the bound on the tokens of the prompt."""
    completion: Fraction | None = None
    """Tokens of a reply; None as long as none has told."""


@dataclass(frozen=True)
class _Known:
    """What a project has and knows of the model."""

    stored: Callable[[Sequence[str]], Iterable[str]]
    """Those of some digests whose replies are there."""
    habits: _Habits
    price: Price | None
    no_cost: str


def estimate(planned: RunPlan) -> Estimate | None:
    """None for an evaluator that asks no model. Makes the requests of LOOKED_AT summaries at most."""
    evaluator = planned.evaluator
    if not isinstance(evaluator, AskingEvaluator):
        return None
    project_id = planned.project.pk
    items = items_of(spread(planned.to_score, LOOKED_AT), planned.needs)
    address = evaluator.address
    model = known_model(project_id, address) if address else None
    price = price_of(model)
    no_cost = "" if price else _why_no_cost(address)
    known = _Known(partial(stored, project_id), _habits(model), price, no_cost)
    return _estimate(evaluator, list(items.values()), len(planned.to_score), known)


def estimate_without_project(evaluator: Evaluator, items: Sequence[Item]) -> Estimate | None:
    """As `estimate`, of items that no project has: nothing is stored, and no price is known."""
    if not isinstance(evaluator, AskingEvaluator):
        return None
    known = _Known(lambda _: (), _Habits(USUAL_SHARE), None, "Prices are kept in projects.")
    looked_at = [items[place] for place in spread(range(len(items)), LOOKED_AT)]
    return _estimate(evaluator, looked_at, len(items), known)


def _estimate(evaluator: AskingEvaluator, items: Sequence[Item], summaries: int, known: _Known) -> Estimate:
    asked = {item.id: evaluator.requests(item) for item in items if evaluator.is_asked_about(item)}
    distinct = list(dict.fromkeys(request for requests in asked.values() for request in requests))
    to_send = distinct
    if address := evaluator.address:
        digests = [request.digest(address) for request in distinct]
        there = set(known.stored(digests))
        to_send = [each for each, digest in zip(distinct, digests, strict=True) if digest not in there]
    at_most = [most_used(request, evaluator.tokens_at_most) for request in to_send]
    expected = [
        _expected(request, bound, known.habits) for request, bound in zip(to_send, at_most, strict=True)
    ]
    whole = Fraction(summaries, len(items) or 1)
    most, likely = _sum(at_most, whole), _sum(expected, whole)
    return Estimate(
        summaries=summaries,
        looked_at=len(items),
        requests=ceil(len(distinct) * whole),
        stored=floor((len(distinct) - len(to_send)) * whole),
        prompt_tokens=likely.prompt_tokens,
        prompt_tokens_at_most=most.prompt_tokens,
        completion_tokens=likely.completion_tokens,
        completion_tokens_at_most=most.completion_tokens,
        is_learnt=known.habits.completion is not None,
        cost=known.price.cost(likely) if known.price else None,
        cost_at_most=known.price.cost(most) if known.price else None,
        no_cost=known.no_cost,
        prompts=tuple(_shown(asked)),
    )


def spread(ids: Sequence[int], most: int) -> list[int]:
    """`most` of the ids at most, evenly spread over them, in their order."""
    number = min(most, len(ids))
    return [ids[place * len(ids) // number] for place in range(number)]


def _habits(model: EndpointModel | None) -> _Habits:
    if model is not None:
        told = model.replies.filter(prompt_tokens__isnull=False, prompt_tokens_at_most__gt=0)
        sums = told.order_by("-pk")[:LEARNT_FROM].aggregate(
            prompt=Sum("prompt_tokens"),
            bound=Sum("prompt_tokens_at_most"),
            completion=Sum("completion_tokens"),
            number=Count("pk"),
        )
        if sums["number"]:
            return _Habits(
                Fraction(sums["prompt"], sums["bound"]), Fraction(sums["completion"], sums["number"])
            )
    return _Habits(USUAL_SHARE)


def _expected(request: Request, at_most: Usage, habits: _Habits) -> Usage:
    """Never more than the most."""
    prompt = min(at_most.prompt_tokens, ceil(most_used(request).prompt_tokens * habits.share))
    completion = at_most.completion_tokens
    if habits.completion is not None:
        completion = min(completion, ceil(habits.completion))
    return Usage(prompt, completion)


def _sum(used: Sequence[Usage], times: Fraction) -> Usage:
    return Usage(
        ceil(sum(each.prompt_tokens for each in used) * times),
        ceil(sum(each.completion_tokens for each in used) * times),
    )


def _why_no_cost(address: Address | None) -> str:
    if address is None:
        return "The model runs on this server: nothing is paid by the token."
    return f"No price is known for {address.model}; a manager sets it on the page of endpoints."


def _shown(asked: Mapping[str, Sequence[Request]]) -> Iterator[ShownPrompt]:
    """SHOWN prompts of summaries spread evenly, of another dimension each as far as there are any."""
    named = [(item, requests) for item, requests in asked.items() if requests]
    for number, place in enumerate(spread(range(len(named)), SHOWN)):
        item, requests = named[place]
        prompts = list(dict.fromkeys((request.system, request.prompt) for request in requests))
        system, prompt = prompts[number % len(prompts)]
        yield ShownPrompt(item, system, prompt)
