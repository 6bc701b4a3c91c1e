"""The address of a client, for counting failed sign-ins and what strangers have computed."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the client's address; behind a proxy, the address that the proxy has seen.

    Anybody can send X-Forwarded-For. The proxy appends to it, so only the last entry is trusted. An entry
    that is no address, such as `unknown`, is passed over; a port is left out.
    """
    seen_here = request.META.get("REMOTE_ADDR", "")
    if not settings.BEHIND_HTTPS_PROXY:
        return seen_here
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    return _without_port(forwarded[-1].strip()) or seen_here


def client_network(request: HttpRequest) -> str:
    """Return the client's address; of IPv6, its /64 network, since one client may have all of that."""
    address = client_address(request)
    try:
        is_long = isinstance(ip_address(address), IPv6Address)
    except ValueError:
        return address
    return str(ip_network(f"{address}/64", strict=False)) if is_long else address


def _without_port(entry: str) -> str:
    """Return the address of `203.0.113.9`, `203.0.113.9:80`, `2001:db8::1` or `[2001:db8::1]:80`, or ""."""
    if entry.startswith("["):
        entry = entry[1:].partition("]")[0]
    elif entry.count(":") == 1:
        entry = entry.partition(":")[0]
    try:
        return str(ip_address(entry.partition("%")[0]))
    except ValueError:
        return ""
