"""Where workers may be sent by people who are not the operator, and what a form offers them to choose."""

from django.conf import settings

from scoring.asking.addresses import same_address
from scoring.models import Endpoint, EndpointModel


def refusal_of(base_url: str) -> str | None:
    """Why pages may not name this address, or None: the operator lists those they may (LLM_ENDPOINTS).

    Workers ask where the operator says: their network and their keys are not the researcher's.
    """
    listed = settings.LLM_ENDPOINTS
    if "*" in listed or same_address(base_url) in map(same_address, listed):
        return None
    return (
        f"found {base_url!r}, expected one of {', '.join(listed) or '(none)'}. "
        "The operator of this server can add endpoints (LLM_ENDPOINTS)."
    )


def addresses_on_offer(project_id: int) -> list[str]:
    """Those that the project has, and those that the operator lists; each once."""
    own = Endpoint.objects.filter(project=project_id).values_list("base_url", flat=True)
    listed = (same_address(each) for each in settings.LLM_ENDPOINTS if each != "*")
    return list(dict.fromkeys([*own, *listed]))


def models_known(project_id: int) -> list[str]:
    """Names of models that the project has asked or a manager has named."""
    models = EndpointModel.objects.filter(endpoint__project=project_id).order_by("name")
    return list(models.values_list("name", flat=True).distinct())
