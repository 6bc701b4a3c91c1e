"""Addresses that webhooks may have: public ones, and what the operator lists in WEBHOOK_ADDRESSES."""

from django.conf import settings

from scoring.contract.requests import Reach
from scoring.endpoints.offered_addresses import THIS_MACHINE
from scoring.llm.addresses import may_lead_within, problem_of, same_address

SETTING = "WEBHOOK_ADDRESSES"


def reach_of(address: str) -> Reach:
    """Return where connections to this address may lead: beyond public addresses only if it is listed."""
    listed = settings.WEBHOOK_ADDRESSES
    if same_address(address) in map(same_address, listed):
        return Reach.ANYWHERE
    return Reach.THIS_MACHINE if THIS_MACHINE in listed else Reach.PUBLIC


def refusal_of(address: str) -> str | None:
    """Return why a webhook may not have this address, or None. Names are resolved when it is used."""
    if problem := problem_of(address):
        return f"Found {address!r}, expected {problem}, for example https://lab.example.org/touchstone/."
    if not may_lead_within(address, reach_of(address)):
        return (
            f"Found {address!r}, expected a public address. The operator of this server can allow others by "
            f"listing them ({SETTING})."
        )
    return None
