"""Estimates of a run's requests and cost, before anything is sent."""

from decimal import Decimal

import pytest

from annotation.models import Summary
from scoring.contract.requests import Request
from scoring.endpoints.prices import most_used
from scoring.inputs.items import items_of
from scoring.models import StoredReply
from scoring.runs import estimates
from scoring.runs.estimates import estimate, spread
from scoring.runs.planning import plan
from tests.factories import make_summary, make_system
from tests.scoring.asking_projects import asking_plan, asking_project, price
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint():
    with ScriptedEndpoint() as endpoint:
        yield endpoint
        assert not endpoint.asked, "an estimate sends no request"


@pytest.fixture
def project():
    return asking_project(10)


def requests_of(planned) -> list[Request]:
    items = items_of(planned.to_score, planned.needs).values()
    return [each for item in items for each in planned.evaluator.requests(item)]


def store(planned, requests, model=None, **fields) -> None:
    for request in requests:
        StoredReply.objects.create(
            project=planned.project,
            request=request.digest(planned.evaluator.address),
            text="0.5",
            asked=model,
            prompt_tokens_at_most=most_used(request).prompt_tokens,
            **fields,
        )


def test_estimate_counts_requests_and_bounds_their_tokens(project, endpoint):
    planned = asking_plan(project, endpoint)
    bounds = [most_used(request) for request in requests_of(planned)]
    found = estimate(planned)
    assert (found.summaries, found.sampled, found.is_extrapolated) == (11, 11, False)
    assert (found.requests, found.stored, found.to_send) == (10, 0, 10)
    assert found.at_most.prompt_tokens == sum(each.prompt_tokens for each in bounds)
    assert found.at_most.completion_tokens == 10 * 16
    assert found.expected.prompt_tokens < found.at_most.prompt_tokens
    assert not found.is_learnt


def test_estimate_without_a_price_says_so(project, endpoint):
    found = estimate(asking_plan(project, endpoint))
    assert (found.cost, found.cost_at_most) == (None, None)
    assert found.no_cost == "judge-1 has no price. A manager can set it on the endpoints page."


def test_estimate_with_a_price_gives_the_cost(project, endpoint):
    price(project, endpoint, "2", "8")
    found = estimate(asking_plan(project, endpoint))
    assert found.no_cost == ""
    expected = Decimal(2 * found.at_most.prompt_tokens + 8 * 160) / 1_000_000
    assert found.cost_at_most == expected
    assert 0 < found.cost < found.cost_at_most


def test_stored_replies_cost_nothing(project, endpoint):
    price(project, endpoint, "2", "8")
    planned = asking_plan(project, endpoint)
    store(planned, requests_of(planned)[:7])
    found = estimate(planned)
    assert (found.requests, found.stored, found.to_send) == (10, 7, 3)
    store(planned, requests_of(planned)[7:])
    assert estimate(planned).cost_at_most == 0


def test_replies_of_other_projects_do_not_count(project, endpoint):
    planned = asking_plan(project, endpoint)
    store(planned, requests_of(planned))
    StoredReply.objects.update(project=asking_project(0))
    assert estimate(planned).stored == 0


def test_stored_replies_without_an_answer_are_requested_again(project, endpoint):
    planned = asking_plan(project, endpoint)
    refused, broken_off, said, whole = requests_of(planned)[:4]
    store(planned, [refused], problem="refused")
    store(planned, [broken_off], problem="truncated")
    store(planned, [said])
    StoredReply.objects.filter(request=said.digest(planned.evaluator.address)).update(
        text="I'm sorry, but I can't help with that."
    )
    store(planned, [whole])
    assert estimate(planned).stored == 1


def test_estimate_learns_token_counts_from_earlier_replies(project, endpoint):
    model = price(project, endpoint, "2", "8")
    planned = asking_plan(project, endpoint)
    for request in requests_of(planned)[:2]:
        quarter = most_used(request).prompt_tokens // 4
        store(planned, [request], model, prompt_tokens=quarter, completion_tokens=3)
    found = estimate(planned)
    assert found.is_learnt
    assert found.expected.prompt_tokens == pytest.approx(found.at_most.prompt_tokens / 4, rel=0.03)
    assert found.expected.completion_tokens == 8 * 3


def test_large_run_is_extrapolated_from_a_sample(project, endpoint, monkeypatch):
    planned = asking_plan(project, endpoint)
    whole = estimate(planned)
    monkeypatch.setattr(estimates, "MOST_SAMPLED", 5)
    found = estimate(planned)
    assert (found.summaries, found.sampled, found.is_extrapolated) == (11, 5, True)
    assert found.requests == pytest.approx(whole.requests, abs=2)
    assert found.at_most.prompt_tokens == pytest.approx(whole.at_most.prompt_tokens, rel=0.2)


def test_estimate_counts_summaries_with_the_text_of_another_of_their_article(project, endpoint):
    one, other = make_system(project, "one"), make_system(project, "other")
    twin = Summary.objects.get(text="Summary number 3.")
    make_summary(project, article=twin.article, system=one, text="Summary  number 3. ")
    make_summary(project, article=twin.article, system=other, text="Summary number 3, longer.")
    make_summary(project, text="Summary number 3.")
    example = Summary.objects.get(text="The example.")
    make_summary(project, article=example.article, system=one, text="The example.")
    found = estimate(asking_plan(project, endpoint))
    assert (found.repeated, found.requests) == (1, 12), "what the evaluator has seen is not asked about"


def test_estimate_has_three_complete_prompts(project, endpoint):
    planned = asking_plan(project, endpoint)
    shown = estimate(planned).prompts
    asked = [(each.system, each.prompt) for each in requests_of(planned)]
    assert [(each.system, each.prompt) for each in shown] == [asked[0], asked[3], asked[6]]
    assert len({each.item for each in shown}) == 3


def test_run_without_summaries_to_score_has_no_requests(endpoint):
    planned = asking_plan(asking_project(0), endpoint)
    found = estimate(planned)
    assert (found.requests, found.prompts) == (0, ())


def test_evaluators_without_a_language_model_have_no_estimate(project):
    assert estimate(plan(project, "length", {})) is None


def test_sample_is_spread_evenly():
    assert spread(range(10), 3) == [0, 3, 6]
    assert spread(range(2), 3) == [0, 1]
    assert spread([], 3) == []
