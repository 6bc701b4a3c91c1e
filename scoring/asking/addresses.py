"""Addresses of endpoints, as people write them."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

NO_KEY = "none"
"""Said to an endpoint nearby where there is no key: protocol and client will have one."""


def is_endpoint_address(found: str) -> bool:
    """Whether this is an http or https address with a host, and without a user and a password in it."""
    try:
        address = urlsplit(found)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.username is None
    except ValueError:  # brackets or a port that no address can have
        return False


def same_address(found: str) -> str:
    """The address without what changes nothing: the white space around it and the slash at its end."""
    return found.strip().rstrip("/")


def is_on_this_machine(base_url: str) -> bool:
    host = _host(base_url)
    number = _number(host)
    return host == "localhost" or (number is not None and number.is_loopback)


def is_nearby(base_url: str) -> bool:
    """Whether it is on this machine or in a private network, where endpoints mostly ask for no key.

    Private are the addresses of RFC 1918 and RFC 4193, and names without a dot, which no other network knows.
    """
    number = _number(_host(base_url))
    is_private = number.is_private if number else "." not in _host(base_url)
    return is_private or is_on_this_machine(base_url)


def _host(base_url: str) -> str:
    return urlsplit(base_url).hostname or ""


def _number(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:  # a name
        return None
