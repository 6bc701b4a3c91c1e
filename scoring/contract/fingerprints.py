"""What an evaluator's scores depend on, as a hash and in words."""

from annotation.declared.settings import settings_as_json, value_as_text
from scoring.contract.digests import sha256_of
from scoring.contract.evaluator import Evaluator
from scoring.contract.items import Member


def identity(evaluator: Evaluator) -> dict[str, object]:
    """Return everything the evaluator's scores depend on, as JSON.

    Call `fit` and `see_corpus` first if the evaluator needs them.
    """
    return {
        "name": evaluator.name,
        "version": evaluator.version,
        "params": settings_as_json(evaluator.params),
        "pool": {"examples": list(evaluator.seen.example_ids), "sha256": evaluator.seen.digest},
        "provenance": dict(evaluator.provenance()),
        **({"corpus": evaluator.corpus_digest} if evaluator.corpus_digest else {}),
        **({"members": [_member(each) for each in evaluator.members]} if evaluator.members else {}),
    }


def fingerprint(evaluator: Evaluator) -> str:
    """Return the SHA-256, 64 hex digits, of `identity`: same fingerprint and texts, same scores."""
    return sha256_of(identity(evaluator))


def signature(evaluator: Evaluator) -> str:
    """Return the readable short form, such as `rouge|variant:L|stem:no|v:1`.

    It lists all parameters, so that a later change of a default does not change what an old signature means.
    """
    parts = [evaluator.name]
    parts += [f"{key}:{value_as_text(value)}" for key, value in settings_as_json(evaluator.params).items()]
    if evaluator.seen.digest:
        parts.append(f"pool:{evaluator.seen.digest[:8]}")
    if evaluator.corpus_digest:
        parts.append(f"corpus:{evaluator.corpus_digest[:8]}")
    return "|".join([*parts, f"v:{evaluator.version}"])


def _member(member: Member) -> dict[str, object]:
    found = {"setup": member.fingerprint or member.name, "dimensions": list(member.dimensions)}
    return found | ({"out_of_fold": True} if member.is_out_of_fold else {})
