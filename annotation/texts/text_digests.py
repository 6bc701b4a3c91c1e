"""Digests: of a text, recognised under another id, and of settings and requests as JSON."""

import hashlib
import json
import unicodedata
from hashlib import sha256

COUNTED = "LMN"
"""Letters, marks and numbers, by the first letter of their Unicode category."""


def text_digest(text: str) -> str:
    """Return the SHA-256, 64 hex digits, of the text's letters and digits; empty if there is nothing to see.

    White space, punctuation, upper and lower case, Unicode forms (NFC, NFD, NFKC, NFKD) and invisible
    characters make no difference, because releases of one data set differ in them: the two of SummEval have
    no article in common otherwise. A text without letters and digits is taken by its other visible
    characters. Lone surrogates are allowed.

    Source: The Unicode Standard, section 3.13, compatibility caseless match (D146).
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFD", text).casefold()).casefold()
    kinds = {character: unicodedata.category(character) for character in set(folded)}
    counted = {each for each, kind in kinds.items() if kind[0] in COUNTED}
    visible = {each for each, kind in kinds.items() if kind != "Cf" and not each.isspace()}
    ignored = str.maketrans(dict.fromkeys(kinds.keys() - (counted or visible)))
    seen = unicodedata.normalize("NFKD", folded.translate(ignored))
    return sha256(seen.encode("utf-8", "surrogatepass")).hexdigest() if seen else ""


def article_digest(article: str) -> str:
    """Return an id for an article without one, whatever the white space between its words."""
    return f"sha256:{sha256(' '.join(article.split()).encode('utf-8', 'surrogatepass')).hexdigest()}"


def sha256_of(content: object) -> str:
    """Return the SHA-256, 64 hex digits, of `content` as canonical JSON; lone surrogates are allowed.

    Raises ValueError for numbers that are not finite, TypeError for what JSON cannot hold.
    """
    canonical = json.dumps(
        content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
