"""Addresses of endpoints."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

NO_KEY = "none"
"""Sent to a local endpoint without a key, since the protocol requires one."""


def is_endpoint_address(found: str) -> bool:
    """Return whether this is an http or https address with a host and without user and password."""
    try:
        address = urlsplit(found)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.username is None
    except ValueError:  # brackets or a port that no address can have
        return False


def same_address(found: str) -> str:
    """Return the address without surrounding white space and trailing slashes."""
    return found.strip().rstrip("/")


def is_on_this_machine(base_url: str) -> bool:
    host = _host(base_url)
    number = _number(host)
    return host == "localhost" or (number is not None and number.is_loopback)


def is_nearby(base_url: str) -> bool:
    """Return whether the endpoint is on this machine or in a private network, where keys are rare.

    Private are the addresses of RFC 1918 and RFC 4193, and host names without a dot.
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
