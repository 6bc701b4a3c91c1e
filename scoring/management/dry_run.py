"""What manage.py score --dry-run prints."""

from collections.abc import Iterator

from scoring.endpoints.estimates import Estimate
from scoring.endpoints.prices import in_dollars


def dry_run(found: Estimate) -> Iterator[str]:
    """Line by line: the prompts in full, then requests, tokens and cost."""
    for shown in found.prompts:
        yield f"=== {shown.item}"
        if shown.system:
            yield f"--- system\n{shown.system}\n--- prompt"
        yield shown.prompt
    yield "==="
    there = f", of which {found.stored:,} are answered already" if found.stored else ""
    yield f"Requests: {found.requests:,}{there}."
    yield (
        f"Tokens: about {found.prompt_tokens:,} to send (at most {found.prompt_tokens_at_most:,}), "
        f"about {found.completion_tokens:,} to receive (at most {found.completion_tokens_at_most:,})."
    )
    if found.cost is None or found.cost_at_most is None:
        yield f"Cost: not known. {found.no_cost}"
    else:
        yield f"Cost: about {in_dollars(found.cost)}, at most {in_dollars(found.cost_at_most)}."
    if found.is_extrapolated:
        yield f"Extrapolated from {found.looked_at:,} of {found.summaries:,} summaries."
    yield "Nothing was sent."
