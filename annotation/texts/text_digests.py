"""The digest by which the same text is recognised under another id."""

import unicodedata
from hashlib import sha256


def text_digest(text: str) -> str:
    """Return the SHA-256, 64 hex digits, of the text as a reader sees it; empty if there is nothing to see.

    White space, upper and lower case, Unicode forms (NFC, NFD, NFKC, NFKD) and invisible characters (Cf, such
    as soft hyphens and byte order marks) make no difference. Lone surrogates are allowed.

    Source: The Unicode Standard, section 3.13, compatibility caseless match (D146).
    """
    invisible = {character for character in set(text) if unicodedata.category(character) == "Cf"}
    visible = text.translate(dict.fromkeys(map(ord, invisible))) if invisible else text
    folded = unicodedata.normalize("NFD", visible).casefold()
    folded = unicodedata.normalize("NFKD", folded).casefold()
    words = " ".join(unicodedata.normalize("NFKD", folded).split())
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest() if words else ""
