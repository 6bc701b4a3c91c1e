"""Details of evaluators that published results leave out: addresses, and reasons for missing scores."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import numpy as np

from metaeval.snapshot.arrays import Scores, SetupScores, read_only

PRIVATE_PARAMETERS = ("base_url:", "api_key_env:")
"""Parameters with the address to which a worker sends texts, and the variable with the key."""
PRIVATE_PHRASE = re.compile(r", (?:at|API key variable) [^\s,+]+")
"""Pattern of these parameters in the name of a setup: "ICE, gpt-4o, at localhost, API key variable ..."."""
NO_REASON = "reasons are not published"


def published_evaluators(evaluators: Iterable[SetupScores]) -> tuple[SetupScores, ...]:
    """Return the evaluators with the same scores, without anything that may hold an address or a text.

    A reason for a missing score may quote an endpoint or a file, so only the number of missing scores stays.
    Setups whose names differ only in the address are numbered.
    """
    shown: dict[str, SetupScores] = {}
    for evaluator in evaluators:
        name = public_name(evaluator.label)
        numbered = (f"{name} · {number}" for number in count(2))
        label = next(each for each in numbered if each not in shown) if name in shown else name
        signature = (
            part for part in evaluator.signature.split("|") if not part.startswith(PRIVATE_PARAMETERS)
        )
        scores = {dimension: _without_reasons(each) for dimension, each in evaluator.scores.items()}
        shown[label] = replace(evaluator, label=label, signature="|".join(signature), scores=scores)
    return tuple(shown.values())


def public_name(label: str) -> str:
    """Return the name of a setup without the addresses of endpoints and the variables with their keys."""
    return PRIVATE_PHRASE.sub("", label)


def _without_reasons(scores: Scores) -> Scores:
    return replace(scores, reasons=(NO_REASON,), why=read_only(np.minimum(scores.why, 0)))
