"""Where workers may be sent by people who are not the operator."""

from django.conf import settings

from scoring.asking.addresses import same_address


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
