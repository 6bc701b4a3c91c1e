"""Addresses that pages may name, and what forms offer for completion."""

from django.conf import settings

from scoring.llm.addresses import same_address
from scoring.models import Endpoint, EndpointModel


def refusal_of(base_url: str) -> str | None:
    """Return why pages may not name this address, or None. The operator lists allowed ones (LLM_ENDPOINTS).

    Researchers must not reach the workers' network or send the workers' keys elsewhere.
    """
    listed = settings.LLM_ENDPOINTS
    if "*" in listed or same_address(base_url) in map(same_address, listed):
        return None
    return (
        f"found {base_url!r}, expected one of {', '.join(listed) or '(none)'}. "
        "The operator of this server can add endpoints (LLM_ENDPOINTS)."
    )


def addresses_on_offer(project_id: int) -> list[str]:
    """Return the project's endpoints and those that the operator lists, each once."""
    own = Endpoint.objects.filter(project=project_id).values_list("base_url", flat=True)
    listed = (same_address(each) for each in settings.LLM_ENDPOINTS if each != "*")
    return list(dict.fromkeys([*own, *listed]))


def models_known(project_id: int) -> list[str]:
    """Return the names of the project's models."""
    models = EndpointModel.objects.filter(endpoint__project=project_id).order_by("name")
    return list(models.values_list("name", flat=True).distinct())
