"""Valid, local and public addresses of endpoints."""

import re
from ipaddress import ip_address

import pytest

from scoring.contract.requests import Reach
from scoring.llm.addresses import (
    is_nearby,
    is_on_this_machine,
    is_within,
    may_lead_within,
    problem_of,
    same_address,
)


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "http://127.0.0.1:8080/v1", "http://[::1]"])
def test_http_addresses_are_accepted(address):
    assert problem_of(address) is None


def test_other_addresses_are_refused(subtests):
    cases = {
        "": "http or https",
        "api.openai.com/v1": "http or https",
        "ftp://host/v1": "http or https",
        "file:///etc/passwd": "http or https",
        "https://": "http or https",
        "http://[": "valid host",
        "https://host:99999/v1": "port from 1 to 65535",
        "https://host:-1/v1": "port from 1 to 65535",
        "https://host:port/v1": "port from 1 to 65535",
        "https://host:0/v1": "port from 1 to 65535",
        "https://me:pw@host/v1": "user and password",
        "https://me@host": "user and password",
        "https://@host": "user and password",
        "https://host/v1?key=1": r"\? and #",
        "https://host/v1?": r"\? and #",
        "https://host/v1#top": r"\? and #",
        "https://ho st/v1": "white space",
        "https://host/v 1": "white space",
        "https://host/\r\nX: y": "white space",
        "https://ho\tst/v1": "white space",
        "https://host\0/v1": "control characters",
        "https://host\u00a0/v1": "white space",
        "https://host\\@other/v1": "backslashes",
    }
    for address, expected in cases.items():
        with subtests.test(address=address):
            assert re.search(expected, problem_of(address))


def test_white_space_and_trailing_slash_are_ignored():
    assert same_address(" https://host/v1/ ") == same_address("https://host/v1") == "https://host/v1"


def test_local_and_private_addresses_are_nearby(subtests):
    cases = [
        ("localhost", True, True),
        ("127.0.0.1:8000", True, True),
        ("127.1:8000", True, True),
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


def test_public_addresses_are_within_every_reach(subtests):
    for number in ("8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"):
        for reach in Reach:
            with subtests.test(number=number, reach=reach):
                assert is_within(ip_address(number), reach)


def test_loopback_is_not_public(subtests):
    for number in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        with subtests.test(number=number):
            assert not is_within(ip_address(number), Reach.PUBLIC)
            assert is_within(ip_address(number), Reach.THIS_MACHINE)


def test_other_addresses_need_the_widest_reach(subtests):
    cases = [
        "169.254.169.254",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "fe80::1",
        "fd00::1",
        "fec0::1",
        "ff02::1",
        "::7f00:1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:a9fe:a9fe::1",
    ]
    for number in cases:
        with subtests.test(number=number):
            assert not is_within(ip_address(number), Reach.THIS_MACHINE)
            assert is_within(ip_address(number), Reach.ANYWHERE)


def test_numbers_are_recognized_however_they_are_written(subtests):
    for host in ("169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518"):
        with subtests.test(host=host):
            assert not may_lead_within(f"http://{host}/latest", Reach.THIS_MACHINE)
    assert may_lead_within("http://a-name.example/v1", Reach.PUBLIC)
    assert not may_lead_within("http://localhost/v1", Reach.PUBLIC)
