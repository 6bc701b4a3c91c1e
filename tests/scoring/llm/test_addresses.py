"""Valid and local addresses of endpoints."""

import pytest

from scoring.llm.addresses import is_endpoint_address, is_nearby, is_on_this_machine, same_address


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "http://127.0.0.1:8080/v1", "http://[::1]"])
def test_http_addresses_are_accepted(address):
    assert is_endpoint_address(address)


def test_other_addresses_are_refused(subtests):
    cases = [
        "",
        "api.openai.com/v1",
        "ftp://host/v1",
        "https://",
        "https://me:pw@host/v1",
        "https://me@host",
        "http://[",
    ]
    for address in cases:
        with subtests.test(address=address):
            assert not is_endpoint_address(address)


def test_white_space_and_trailing_slash_are_ignored():
    assert same_address(" https://host/v1/ ") == same_address("https://host/v1") == "https://host/v1"


def test_local_and_private_addresses_are_nearby(subtests):
    cases = [
        ("localhost", True, True),
        ("127.0.0.1:8000", True, True),
        ("[::1]:8000", True, True),
        ("192.168.1.7", False, True),
        ("10.0.0.2:8000", False, True),
        ("[fd00::2]", False, True),
        ("ollama:11434", False, True),
        ("api.openai.com", False, False),
        ("localhost.example.org", False, False),
        ("8.8.8.8", False, False),
        ("[2606:4700::1]", False, False),
    ]
    for host, on_this_machine, nearby in cases:
        with subtests.test(host=host, on_this_machine=on_this_machine, nearby=nearby):
            assert is_on_this_machine(f"http://{host}/v1") is on_this_machine
            assert is_nearby(f"http://{host}/v1") is nearby
