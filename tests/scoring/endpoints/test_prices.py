"""Costs of requests: exact sums in dollars, and upper bounds that hold."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.requests import Request, Usage
from scoring.endpoints.prices import Price, in_dollars, most_used, price_of
from scoring.models import EndpointModel

tokens = st.integers(0, 10**7)
prices = st.builds(
    Price, *[st.decimals(0, 1000, places=6, allow_nan=False, allow_infinity=False) for _ in range(2)]
)


def test_cost_is_exact():
    assert Price(Decimal("2.5"), Decimal("10")).cost(Usage(1200, 8)) == Decimal("0.00308")


def test_cost_below_the_smallest_unit_is_rounded_up():
    assert Price(Decimal("0.001"), Decimal(0)).cost(Usage(1, 0)) == Decimal("0.00000001")


@given(prices, tokens, tokens, tokens, tokens)
def test_more_tokens_never_cost_less(price, prompt, completion, more_prompt, more_completion):
    more = Usage(prompt + more_prompt, completion + more_completion)
    assert price.cost(Usage(prompt, completion)) <= price.cost(more)


def test_upper_bound_counts_both_messages_and_the_longest_reply():
    used = most_used(Request("abc", system="de", max_tokens=7), count=len)
    assert used == Usage(3 + 2 + 2 * 16, 7)
    assert most_used(Request("abc"), count=len).prompt_tokens == 3 + 16


def test_small_amounts_are_shown_with_two_significant_digits(subtests):
    cases = [
        ("0", "$0.00"),
        ("1234.5", "$1,234.50"),
        ("1", "$1.00"),
        ("0.25", "$0.25"),
        ("0.0021", "$0.0021"),
        ("0.03", "$0.03"),
        ("0.5", "$0.50"),
        ("0.00000001", "$0.00000001"),
    ]
    for amount, words in cases:
        with subtests.test(amount=amount, words=words):
            assert in_dollars(Decimal(amount)) == words


def test_model_without_a_price_has_none():
    assert price_of(None) is None
    assert price_of(EndpointModel()) is None
    set_by_a_manager = EndpointModel(input_price=Decimal("0.15"), output_price=Decimal("0.6"))
    assert price_of(set_by_a_manager) == Price(Decimal("0.15"), Decimal("0.6"))
