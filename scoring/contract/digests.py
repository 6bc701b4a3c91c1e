"""The hash that identifies settings, texts and requests."""

import hashlib
import json


def sha256_of(content: object) -> str:
    """Return the SHA-256, 64 hex digits, of `content` as canonical JSON; lone surrogates are allowed.

    Raises ValueError for numbers that are not finite, TypeError for what JSON cannot hold.
    """
    canonical = json.dumps(
        content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
