import pytest
from django.test import RequestFactory

from annotation.people.client_address import client_address, client_network


def request_from(address, forwarded=None):
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return RequestFactory().get("/", REMOTE_ADDR=address, headers=headers)


@pytest.mark.parametrize("forwarded", [None, "", "203.0.113.9", "203.0.113.9, 10.0.0.1"])
def test_without_a_proxy_the_forwarded_header_is_ignored(settings, forwarded):
    settings.BEHIND_HTTPS_PROXY = False
    assert client_address(request_from("198.51.100.7", forwarded)) == "198.51.100.7"


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("made-up, 1.1.1.1, 203.0.113.9", "203.0.113.9"),
        ("2001:db8::1", "2001:db8::1"),
        (None, "10.0.0.1"),
        ("", "10.0.0.1"),
        ("203.0.113.9, ", "10.0.0.1"),
        ("203.0.113.9:5678", "203.0.113.9"),
        ("[2001:db8::1]:80", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("unknown", "10.0.0.1"),
        ("_hidden", "10.0.0.1"),
        ("203.0.113.900", "10.0.0.1"),
        ("9" * 5000, "10.0.0.1"),
    ],
)
def test_behind_a_proxy_only_the_proxys_own_entry_is_trusted(settings, forwarded, expected):
    settings.BEHIND_HTTPS_PROXY = True
    assert client_address(request_from("10.0.0.1", forwarded)) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_addresses_that_one_client_may_have_are_one_network(address, expected):
    assert client_network(request_from(address)) == expected
