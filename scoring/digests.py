"""The hash by which settings, texts and requests are known again."""

import hashlib
import json


def sha256_of(content: object) -> str:
    """SHA-256, 64 hex digits, over `content` as JSON in one canonical form; halves of characters are taken.

    Raises ValueError for numbers that are not finite, TypeError for what does not fit into JSON.
    """
    canonical = json.dumps(
        content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
