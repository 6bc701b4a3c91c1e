"""Addresses of endpoints."""

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from scoring.contract.requests import Reach

NO_KEY = "none"
"""Sent to a local endpoint without a key, since the protocol requires one."""

_Number = IPv4Address | IPv6Address
_UNICAST, _NAT64 = ip_network("2000::/3"), ip_network("64:ff9b::/96")
_UNSAFE = re.compile(r"[\s\x00-\x20\x7f\\]")
"""White space, control characters and the backslash, which programs read differently."""


def problem_of(base_url: str) -> str | None:
    """Return why this cannot be an endpoint's address, to follow "expected"; None if it can."""
    if _UNSAFE.search(base_url):
        return "an address without white space, control characters and backslashes"
    try:
        address = urlsplit(base_url)
        port = address.port
    except ValueError:  # brackets or a port that no address can have
        return "an http or https address with a valid host, and a port from 1 to 65535 if any"
    if address.scheme not in ("http", "https") or not address.hostname:
        return "an http or https address"
    if port == 0:
        return "a port from 1 to 65535"
    if "@" in address.netloc:
        return "an address without user and password"
    if "?" in base_url or "#" in base_url:
        return "an address without ? and #"
    return None


def same_address(found: str) -> str:
    """Return the address without surrounding white space and trailing slashes."""
    return found.strip().rstrip("/")


def is_on_this_machine(base_url: str) -> bool:
    number = number_in(base_url)
    return _host(base_url) == "localhost" or (number is not None and _is_loopback(number))


def is_nearby(base_url: str) -> bool:
    """Return whether the endpoint is on this machine or in a private network, where keys are rare.

    Private are the addresses of RFC 1918 and RFC 4193, and host names without a dot.
    """
    number = number_in(base_url)
    is_private = number.is_private if number else "." not in _host(base_url)
    return is_private or is_on_this_machine(base_url)


def is_within(number: _Number, reach: Reach) -> bool:
    """Return whether a connection may lead to this address."""
    if reach is Reach.ANYWHERE or _is_public(number):
        return True
    return reach is Reach.THIS_MACHINE and _is_loopback(number)


def may_lead_within(base_url: str, reach: Reach) -> bool:
    """Return whether the address itself names nothing beyond this reach; other names are not resolved."""
    number = ip_address("127.0.0.1") if _host(base_url) == "localhost" else number_in(base_url)
    return number is None or is_within(number, reach)


def number_in(base_url: str) -> _Number | None:
    """Return the IP address that is the host; None if the host is a name."""
    host = _host(base_url)
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))  # 127.1, 2130706433 and 0x7f.1, as resolvers read them
    except (OSError, ValueError):  # a name
        return None


def _host(base_url: str) -> str:
    return urlsplit(base_url).hostname or ""


def _is_public(number: _Number) -> bool:
    if isinstance(number, IPv4Address):
        return number.is_global and not number.is_multicast
    inner = _inside(number)
    return _is_public(inner) if inner else number in _UNICAST and number.is_global


def _is_loopback(number: _Number) -> bool:
    inner = _inside(number) if isinstance(number, IPv6Address) else None
    return (inner or number).is_loopback


def _inside(number: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that connections to this IPv6 address lead to, if any."""
    if number in _NAT64:
        return IPv4Address(int(number) & 0xFFFFFFFF)
    return number.ipv4_mapped or number.sixtofour
