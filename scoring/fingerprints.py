"""What an evaluator's numbers depend on, as a hash and in words: same fingerprint and texts, same scores."""

from scoring.contract import Evaluator, Member
from scoring.digests import sha256_of
from scoring.params import params_as_json, value_as_text


def identity(evaluator: Evaluator) -> dict[str, object]:
    """Everything the evaluator's numbers depend on, as JSON. Fit and survey first where it needs that."""
    return {
        "name": evaluator.name,
        "version": evaluator.version,
        "params": params_as_json(evaluator.params),
        "pool": {"examples": list(evaluator.seen.example_ids), "sha256": evaluator.seen.digest},
        "provenance": dict(evaluator.provenance()),
        **({"corpus": evaluator.corpus_digest} if evaluator.corpus_digest else {}),
        **({"members": [_member(each) for each in evaluator.members]} if evaluator.members else {}),
    }


def fingerprint(evaluator: Evaluator) -> str:
    """SHA-256, 64 hex digits, over `identity`: same fingerprint and same texts, same scores."""
    return sha256_of(identity(evaluator))


def signature(evaluator: Evaluator) -> str:
    """The readable short form, such as `rouge|variant:L|stem:no|v:1`.

    All parameters stand in it, so that a default changed one day does not change what an old signature means.
    """
    parts = [evaluator.name]
    parts += [f"{key}:{value_as_text(value)}" for key, value in params_as_json(evaluator.params).items()]
    if evaluator.seen.digest:
        parts.append(f"pool:{evaluator.seen.digest[:8]}")
    if evaluator.corpus_digest:
        parts.append(f"corpus:{evaluator.corpus_digest[:8]}")
    return "|".join([*parts, f"v:{evaluator.version}"])


def _member(member: Member) -> dict[str, object]:
    found = {"setup": member.fingerprint or member.name, "dimensions": list(member.dimensions)}
    return found | ({"out_of_fold": True} if member.is_out_of_fold else {})
