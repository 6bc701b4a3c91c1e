"""Estimates of a run's requests, tokens and cost, made before anything is sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from django.db.models import Count, Sum

from annotation.database.portions import portions
from annotation.models import Summary
from scoring.contract.evaluator import Evaluator
from scoring.contract.items import Item
from scoring.contract.requests import Address, Request, Usage
from scoring.endpoints.known_models import known_model
from scoring.endpoints.prices import most_used, price_of
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.inputs.items import CHUNK, items_of
from scoring.models import EndpointModel
from scoring.replies.repeated_texts import repeated_texts
from scoring.replies.stored_replies import stored
from scoring.runs.planning import RunPlan

MOST_SAMPLED = 120
"""Summaries whose requests are counted, spread evenly over a larger run."""
SHOWN = 3
LEARNT_FROM = 500
"""Latest replies of the model from which the tokens of others are estimated."""
USUAL_SHARE = Fraction(1, 2)
"""Share of the bound on a prompt's tokens, until the model has replies. English takes 0.4."""


@dataclass(frozen=True)
class ShownPrompt:
    """A prompt that would be sent for one summary."""

    item: str
    system: str
    prompt: str


@dataclass(frozen=True)
class RunEstimate:
    """Requests, tokens and US dollars of a run. Requests with stored replies cost nothing."""

    summaries: int
    sampled: int
    """Summaries from which the numbers are extrapolated."""
    repeated: int
    """Summaries with the text of an earlier one of the same article, whose replies they get."""
    requests: int
    stored: int
    """Requests whose replies are stored."""
    expected: Usage
    """Expected tokens of the requests to send."""
    at_most: Usage
    is_learnt: bool
    """True if the expected tokens are based on earlier replies of the model."""
    cost: Decimal | None
    cost_at_most: Decimal | None
    no_cost: str
    """The reason why the cost is unknown; else empty."""
    prompts: tuple[ShownPrompt, ...]

    @property
    def to_send(self) -> int:
        return self.requests - self.stored

    @property
    def is_extrapolated(self) -> bool:
        return self.sampled < self.summaries


def estimate(planned: RunPlan) -> RunEstimate | None:
    """Estimate a planned run from at most MOST_SAMPLED summaries; None if it asks no model."""
    evaluator = planned.evaluator
    if not isinstance(evaluator, AskingEvaluator):
        return None
    items = items_of(spread(planned.to_score, MOST_SAMPLED), planned.needs)
    repeated = repeated_texts(_texts(evaluator, planned.to_score))
    return _estimate(evaluator, list(items.values()), len(planned.to_score), repeated, planned.project.pk)


def _texts(evaluator: AskingEvaluator, summary_ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield article (primary key) and text of the summaries that the model is asked about."""
    for ids in portions(summary_ids, CHUNK):
        rows = Summary.objects.filter(pk__in=ids).values_list(
            "article", "article__external_id", "article__text_digest", "article__language", "text"
        )
        for article, external_id, digest, language, text in rows:
            item = Item("", text, article_id=external_id, article_digest=digest, language=language)
            if evaluator.is_asked_about(item):
                yield article, text


def estimate_without_project(evaluator: Evaluator, items: Sequence[Item]) -> RunEstimate | None:
    """Estimate as `estimate`, for items of no project, with no stored replies and no price."""
    if not isinstance(evaluator, AskingEvaluator):
        return None
    sampled = [items[place] for place in spread(range(len(items)), MOST_SAMPLED)]
    repeated = repeated_texts(
        (item.article or "", item.summary) for item in items if evaluator.is_asked_about(item)
    )
    return _estimate(evaluator, sampled, len(items), repeated, None)


def _estimate(
    evaluator: AskingEvaluator, items: Sequence[Item], summaries: int, repeated: int, project_id: int | None
) -> RunEstimate:
    asked = {item.id: evaluator.requests(item) for item in items if evaluator.is_asked_about(item)}
    distinct = list(dict.fromkeys(request for requests in asked.values() for request in requests))
    to_send, model, address = distinct, None, evaluator.address
    if address and project_id:
        model = known_model(project_id, address)
        there = stored(project_id, [request.digest(address) for request in distinct])
        to_send = [request for request in distinct if request.digest(address) not in there]
    price = price_of(model)
    share, completion = _habits(model)
    at_most = [most_used(request, evaluator.tokens_at_most) for request in to_send]
    expected = [
        _expected(request, bound, share, completion) for request, bound in zip(to_send, at_most, strict=True)
    ]
    whole = Fraction(summaries, len(items) or 1)
    most, likely = _sum(at_most, whole), _sum(expected, whole)
    return RunEstimate(
        summaries=summaries,
        sampled=len(items),
        repeated=repeated,
        requests=ceil(len(distinct) * whole),
        stored=floor((len(distinct) - len(to_send)) * whole),
        expected=likely,
        at_most=most,
        is_learnt=completion is not None,
        cost=price.cost(likely) if price else None,
        cost_at_most=price.cost(most) if price else None,
        no_cost="" if price else _why_no_cost(address, project_id),
        prompts=tuple(_shown(asked)),
    )


def spread(ids: Sequence[int], most: int) -> list[int]:
    """Return at most `most` of the ids, evenly spread, in order."""
    number = min(most, len(ids))
    return [ids[place * len(ids) // number] for place in range(number)]


def _habits(model: EndpointModel | None) -> tuple[Fraction, Fraction | None]:
    """Return the mean share of the bound on a prompt's tokens, and the mean tokens of a reply, if known."""
    if model is not None:
        told = model.replies.filter(prompt_tokens__isnull=False, prompt_tokens_at_most__gt=0)
        sums = told.order_by("-pk")[:LEARNT_FROM].aggregate(
            prompt=Sum("prompt_tokens"),
            bound=Sum("prompt_tokens_at_most"),
            completion=Sum("completion_tokens"),
            number=Count("pk"),
        )
        if sums["number"]:
            return Fraction(sums["prompt"], sums["bound"]), Fraction(sums["completion"], sums["number"])
    return USUAL_SHARE, None


def _expected(request: Request, at_most: Usage, share: Fraction, completion: Fraction | None) -> Usage:
    """Return the expected tokens of a request, never more than `at_most`."""
    prompt = min(at_most.prompt_tokens, ceil(most_used(request).prompt_tokens * share))
    bound = at_most.completion_tokens
    return Usage(prompt, bound if completion is None else min(bound, ceil(completion)))


def _sum(used: Sequence[Usage], times: Fraction) -> Usage:
    return Usage(
        ceil(sum(each.prompt_tokens for each in used) * times),
        ceil(sum(each.completion_tokens for each in used) * times),
    )


def _why_no_cost(address: Address | None, project_id: int | None) -> str:
    if project_id is None:
        return "Prices are set in projects."
    if address is None:
        return "The model runs on this server and costs nothing per token."
    return f"{address.model} has no price. A manager can set it on the endpoints page."


def _shown(asked: Mapping[str, Sequence[Request]]) -> Iterator[ShownPrompt]:
    """Yield SHOWN prompts of summaries spread evenly, each on another dimension if there are several."""
    named = [(item, requests) for item, requests in asked.items() if requests]
    for number, place in enumerate(spread(range(len(named)), SHOWN)):
        item, requests = named[place]
        prompts = list(dict.fromkeys((request.system, request.prompt) for request in requests))
        system, prompt = prompts[number % len(prompts)]
        yield ShownPrompt(item, system, prompt)
