"""Everything that an evaluator's scores depend on, as a hash and in words."""

from collections.abc import Collection

from annotation.declared.settings import settings_as_json, settings_of, value_as_json, value_as_text
from annotation.texts.text_digests import sha256_of
from scoring.contract.evaluator import Evaluator, Member


def identity(evaluator: Evaluator) -> dict[str, object]:
    """Return everything the evaluator's scores depend on, as JSON.

    Parameters that change no score have their defaults. Call `fit` and `see_corpus` first if the evaluator
    needs them.
    """
    return _identity(evaluator, evaluator.unused_params(evaluator.params))


def _identity(evaluator: Evaluator, unused: Collection[str]) -> dict[str, object]:
    return {
        "name": evaluator.name,
        "version": evaluator.version,
        "params": _params(evaluator, unused),
        "pool": {"examples": list(evaluator.seen.example_ids), "sha256": evaluator.seen.digest},
        "provenance": dict(evaluator.provenance()),
        **({"corpus": evaluator.corpus_digest} if evaluator.corpus_digest else {}),
        **({"members": [_member(each) for each in evaluator.members]} if evaluator.members else {}),
    }


def fingerprint(evaluator: Evaluator) -> str:
    """Return the SHA-256, 64 hex digits, of `identity`: same fingerprint and texts, same scores."""
    return sha256_of(identity(evaluator))


def earlier_fingerprint(evaluator: Evaluator) -> str:
    """Return the fingerprint of setups made when unused parameters counted, too."""
    return sha256_of(_identity(evaluator, ()))


def _params(evaluator: Evaluator, unused: Collection[str]) -> dict[str, object]:
    defaults = {
        each.name: value_as_json(each.default)
        for each in settings_of(type(evaluator.params))
        if each.name in unused
    }
    return settings_as_json(evaluator.params) | defaults


def signature(evaluator: Evaluator) -> str:
    """Return the readable short form, such as `rouge|variant:L|stem:no|v:1`.

    It lists all parameters, so that a later change of a default does not change what an old signature means.
    """
    parts = [evaluator.name]
    params = _params(evaluator, evaluator.unused_params(evaluator.params))
    parts += [f"{key}:{value_as_text(value)}" for key, value in params.items()]
    if evaluator.seen.digest:
        parts.append(f"pool:{evaluator.seen.digest[:8]}")
    if evaluator.corpus_digest:
        parts.append(f"corpus:{evaluator.corpus_digest[:8]}")
    return "|".join([*parts, f"v:{evaluator.version}"])


def _member(member: Member) -> dict[str, object]:
    found = {"setup": member.fingerprint or member.name, "dimensions": list(member.dimensions)}
    return found | ({"out_of_fold": True} if member.is_out_of_fold else {})
