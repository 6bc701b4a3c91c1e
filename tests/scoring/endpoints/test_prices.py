"""What requests cost: exact sums in dollars, and never more than was reckoned with."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.asking.request import Address, Request, Usage
from scoring.endpoints.prices import Price, most_used, price_of
from scoring.models import Endpoint, EndpointModel
from tests.factories import make_project

HERE = Address("https://llm.example.org/v1/", "m", "chat", "SOME_API_KEY")
tokens = st.integers(0, 10**7)
prices = st.builds(
    Price, *[st.decimals(0, 1000, places=6, allow_nan=False, allow_infinity=False) for _ in range(2)]
)


def test_a_cost_is_exact():
    assert Price(Decimal("2.5"), Decimal("10")).cost(Usage(1200, 8)) == Decimal("0.00308")


def test_what_is_smaller_than_the_smallest_cost_is_rounded_up():
    assert Price(Decimal("0.001"), Decimal(0)).cost(Usage(1, 0)) == Decimal("0.00000001")


@given(prices, tokens, tokens, tokens, tokens)
def test_more_tokens_never_cost_less(price, prompt, completion, more_prompt, more_completion):
    more = Usage(prompt + more_prompt, completion + more_completion)
    assert price.cost(Usage(prompt, completion)) <= price.cost(more)


def test_the_most_that_a_request_takes_counts_both_messages_and_the_longest_reply():
    used = most_used(Request("abc", system="de", max_tokens=7), count=len)
    assert used == Usage(3 + 2 + 2 * 16, 7)
    assert most_used(Request("abc"), count=len).prompt_tokens == 3 + 16


@pytest.mark.django_db
class TestPriceOf:
    @pytest.fixture
    def model(self):
        endpoint = Endpoint.objects.create(project=make_project(), base_url="https://llm.example.org/v1")
        return EndpointModel.objects.create(
            endpoint=endpoint, name="m", api="chat", input_price=Decimal("0.15"), output_price=Decimal("0.6")
        )

    def test_it_is_the_models_at_this_address(self, model):
        assert price_of(model.endpoint.project_id, HERE) == Price(Decimal("0.15"), Decimal("0.6"))

    @pytest.mark.parametrize(
        "change", [{"name": "n"}, {"api": "completions"}, {"input_price": None, "output_price": None}]
    )
    def test_another_model_api_or_no_price_is_unknown(self, model, change):
        EndpointModel.objects.update(**change)
        assert price_of(model.endpoint.project_id, HERE) is None

    @pytest.mark.usefixtures("model")
    def test_another_projects_price_is_none_here(self):
        assert price_of(make_project().pk, HERE) is None
