"""Addresses that pages may name and workers may reach, and what forms offer for completion.

The operator lists them in LLM_ENDPOINTS: base addresses, ANY_PUBLIC and THIS_MACHINE.
"""

from dataclasses import replace

from django.conf import settings

from scoring.contract.requests import Address, Reach
from scoring.llm.addresses import is_on_this_machine, may_lead_within, same_address
from scoring.models import Endpoint, EndpointModel

ANY_PUBLIC, THIS_MACHINE = "*", "loopback"


def refusal_of(base_url: str) -> str | None:
    """Return why pages may not name this address, or None.

    Researchers must not reach the workers' network or send the workers' keys elsewhere.
    """
    listed, reach = settings.LLM_ENDPOINTS, _reach_of(base_url)
    is_here = reach is Reach.THIS_MACHINE and is_on_this_machine(base_url)
    if reach is not Reach.ANYWHERE and ANY_PUBLIC not in listed and not is_here:
        return (
            f"found {base_url!r}, expected one of {', '.join(listed) or '(none)'}. "
            "The operator of this server can add endpoints (LLM_ENDPOINTS)."
        )
    if not may_lead_within(base_url, reach):
        return (
            f"found {base_url!r}, expected a public address. The operator of this server can allow others by "
            "listing them (LLM_ENDPOINTS)."
        )
    return None


def within_reach(address: Address) -> Address:
    """Return the address as workers may use it: it leads beyond public addresses only if listed.

    Command lines may name any address. Workers keep to the reach even so, since a name may lead anywhere.
    """
    return replace(address, reach=_reach_of(address.base_url))


def _reach_of(base_url: str) -> Reach:
    listed = settings.LLM_ENDPOINTS
    if same_address(base_url) in map(same_address, listed):
        return Reach.ANYWHERE
    return Reach.THIS_MACHINE if THIS_MACHINE in listed else Reach.PUBLIC


def addresses_on_offer(project_id: int) -> list[str]:
    """Return the project's endpoints and those that the operator lists, each once."""
    own = Endpoint.objects.filter(project=project_id).values_list("base_url", flat=True)
    listed = (same_address(each) for each in settings.LLM_ENDPOINTS if each not in (ANY_PUBLIC, THIS_MACHINE))
    return list(dict.fromkeys([*own, *listed]))


def models_known(project_id: int) -> list[str]:
    """Return the names of the project's models."""
    models = EndpointModel.objects.filter(endpoint__project=project_id).order_by("name")
    return list(models.values_list("name", flat=True).distinct())
