"""Sentences of a text in any language, by rules: nothing to download."""

import re
from collections.abc import Sequence
from functools import lru_cache

from annotation.imports.reading.blank_texts import is_blank

LIBRARIES = ("sentencex",)
ENGLISH = "en"

_BEFORE_NAMES = {
    "de": "abg fa hl ing",
    "es": "d dña fr mons st",
    "ru": "ген гор им пл пос рис св",
    "tr": ("alb arş av bkz bul cad doç ecz gen gör hz mah müh org öğr sn sok ş şti tuğg uzm üniv yrd yzb"),
    "vi": "bs gs ks kts ls nsnd nsưt pgs th ths tp ts tx",
}
"""Abbreviations before capitalised names, which the library takes for the end of a sentence."""
_ORDINAL = {
    "de": re.compile(r"\b(?:der|die|das|des|dem|den|am|im|vom|zum|zur|beim)\s+\d{1,2}\.$", re.IGNORECASE),
    "tr": re.compile(r"\b(?:\d{1,2}|[IVX]+)\.$"),
}
"""Ordinal numbers with a full stop; Turkish sentences end in a verb, hardly ever in a number."""
_ABBREVIATIONS = {
    language: re.compile(rf"(?:^|[^\w])(?:{'|'.join(words.split())})\.$", re.IGNORECASE)
    for language, words in _BEFORE_NAMES.items()
}


@lru_cache(maxsize=8192)
def sentences(text: str, language: str | None = None) -> tuple[str, ...]:
    """Return the sentences of `text` in order, trimmed; none for a blank text.

    `language` is an ISO 639-1 code, with or without a region; None means English. An empty line ends a
    sentence. A break of the library is ignored if a lower-case letter follows, or if an abbreviation or
    ordinal number above precedes it. Only white space and sentences without a
    visible character are lost.
    """
    from sentencex import segment

    code = re.split("[-_]", language or ENGLISH)[0].strip().lower() or ENGLISH
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        pieces: list[str] = []
        for piece in segment(code, paragraph):
            if pieces and (piece.lstrip()[:1].islower() or _goes_on(pieces[-1].rstrip(), code)):
                pieces[-1] += piece
            else:
                pieces.append(piece)
        found += [piece.strip() for piece in pieces if not is_blank(piece)]
    return tuple(found)


def _goes_on(sentence: str, language: str) -> bool:
    rules = (_ABBREVIATIONS.get(language), _ORDINAL.get(language))
    return any(rule.search(sentence) for rule in rules if rule)


def sentences_of(text: str, language: str | None, given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the `given` sentences that are not blank, or else `sentences` of the text."""
    return tuple(each for each in given or () if not is_blank(each)) or sentences(text, language)
