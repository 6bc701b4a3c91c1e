"""Template filters for prices and limits."""

from decimal import Decimal

import pytest

from scoring.models import Endpoint
from scoring.templatetags.llm import limits_in_words, price


@pytest.mark.parametrize(
    ("amount", "shown"),
    [("0", "$0.00"), ("0.150000", "$0.15"), ("2.500001", "$2.500001"), ("1200", "$1,200.00")],
)
def test_prices_show_every_digit(amount, shown):
    assert price(Decimal(amount)) == shown


def test_limits_are_described_in_words():
    assert limits_in_words(Endpoint()) == "at most 32 at a time"
    both = Endpoint(requests_per_minute=60, tokens_per_minute=90_000, most_in_flight=4)
    assert limits_in_words(both) == "60 requests and 90,000 tokens a minute, at most 4 at a time"
