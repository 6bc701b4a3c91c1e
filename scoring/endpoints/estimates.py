"""What a run would ask and what that would cost, before anything is sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from django.db.models import Count, Sum

from scoring.asking.request import Address, Request, Usage
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import Evaluator, Item, language_problem
from scoring.endpoints.prices import most_used, price_of
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


def estimate(planned: RunPlan) -> Estimate | None:
    """None for an evaluator that asks no model. Makes the requests of LOOKED_AT summaries at most."""
    evaluator = planned.evaluator
    if not isinstance(evaluator, AskingEvaluator):
        return None
    chosen = spread(planned.to_score, LOOKED_AT)
    items = items_of(chosen, planned.needs)
    asked = {item.id: evaluator.requests(item) for item in items.values() if _is_asked_about(evaluator, item)}
    distinct = list(dict.fromkeys(request for requests in asked.values() for request in requests))
    address = evaluator.address
    model = known_model(planned.project.pk, address) if address else None
    there: set[str] = set()
    to_send = distinct
    if address:
        digests = [request.digest(address) for request in distinct]
        there = set(stored(planned.project.pk, digests))
        to_send = [each for each, digest in zip(distinct, digests, strict=True) if digest not in there]
    habits = _habits(model)
    at_most = [most_used(request, evaluator.tokens_at_most) for request in to_send]
    expected = [_expected(request, bound, habits) for request, bound in zip(to_send, at_most, strict=True)]
    whole = Fraction(len(planned.to_score), len(chosen) or 1)
    price = price_of(model)
    most, likely = _sum(at_most, whole), _sum(expected, whole)
    return Estimate(
        summaries=len(planned.to_score),
        looked_at=len(chosen),
        requests=ceil(len(distinct) * whole),
        stored=floor(len(there) * whole),
        prompt_tokens=likely.prompt_tokens,
        prompt_tokens_at_most=most.prompt_tokens,
        completion_tokens=likely.completion_tokens,
        completion_tokens_at_most=most.completion_tokens,
        is_learnt=habits.completion is not None,
        cost=price.cost(likely) if price else None,
        cost_at_most=price.cost(most) if price else None,
        no_cost="" if price else _why_no_cost(address),
        prompts=tuple(_shown(asked)),
    )


def spread(ids: Sequence[int], most: int) -> list[int]:
    """`most` of the ids at most, evenly spread over them, in their order."""
    number = min(most, len(ids))
    return [ids[place * len(ids) // number] for place in range(number)]


def _is_asked_about(evaluator: Evaluator, item: Item) -> bool:
    return item.article_id not in evaluator.seen.article_ids and not language_problem(
        evaluator, item.language
    )


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
