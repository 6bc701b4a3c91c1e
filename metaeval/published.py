"""What of a project's evaluators is for members alone, and is not in published results."""

from dataclasses import replace

import numpy as np

from metaeval.judgements import Evaluator, Scores, read_only

PRIVATE_PARAMETERS = ("base_url:", "api_key_env:")
"""Where a worker sends texts, and which of its variables holds the key."""
NO_REASON = "reasons are not published"


def published(evaluator: Evaluator) -> Evaluator:
    """The same scores and seen articles, without what may hold an address or a text.

    A reason for a missing score quotes what an endpoint or a file said, so that only its being there is told.
    """
    shown = (part for part in evaluator.signature.split("|") if not part.startswith(PRIVATE_PARAMETERS))
    scores = {dimension: _without_reasons(each) for dimension, each in evaluator.scores.items()}
    return replace(evaluator, signature="|".join(shown), scores=scores)


def _without_reasons(scores: Scores) -> Scores:
    return replace(scores, reasons=(NO_REASON,), why=read_only(np.minimum(scores.why, 0)))
