"""What counts as an endpoint's address."""

import pytest

from scoring.asking.addresses import is_endpoint_address, same_address


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "http://127.0.0.1:8080/v1", "http://[::1]"])
def test_http_addresses_are_taken(address):
    assert is_endpoint_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "api.openai.com/v1",
        "ftp://host/v1",
        "https://",
        "https://me:pw@host/v1",
        "https://me@host",
        "http://[",
    ],
)
def test_others_are_not(address):
    assert not is_endpoint_address(address)


def test_white_space_and_a_slash_at_the_end_change_nothing():
    assert same_address(" https://host/v1/ ") == same_address("https://host/v1") == "https://host/v1"
