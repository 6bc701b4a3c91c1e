"""Addresses of endpoints, as people write them."""

from urllib.parse import urlsplit


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
