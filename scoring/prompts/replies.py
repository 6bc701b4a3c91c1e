"""The score in a language model's reply: one mark, or the reason why there is none.

The reply is read without markup and mentions of the scale. Nothing is clamped, rounded or guessed: one with
two plausible readings is unparsable.
"""

import re
from dataclasses import dataclass
from functools import cache

from annotation.texts.nested_json import read_json
from scoring.prompts.marks import FIGURES, NUMBER, WORD, MarkScale, Unread, number_of

_FENCED_OBJECT = re.compile(r"(?:[^{]*```\w*)?\s*(\{.*\})\s*(?:```.*)?", re.DOTALL)
_UNCLOSED = re.compile(r"[\[{(][^\[\](){}]*[0-9.]\s*\Z")
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys("“”„`", '"'),
        **dict.fromkeys("\u00a0\u2009\u202f\t", " "),
        "\u2212": "-",  # the minus sign
        "\ufe0f": "",  # says that the character before it, such as a star, is to be shown in colour
    }
)
_THOUGHTS = re.compile(r"\A(?:.*</think(?:ing)?>|\s*<think(?:ing)?>.*)", re.DOTALL)
_QUOTED = re.compile(
    r"""
    \A\s*"(?P<whole>[^"]*)"\s*\Z | "(?P<text>[^"\n]*)" | (?<!\w)'(?P<single>[^'\n]*)'(?!\w)
    """,
    re.VERBOSE,
)
_MARKUP = (
    (re.compile(r"\\boxed\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"\$ *([0-9.,]+) *\$"), r"\1"),
    (re.compile(r"</\w+>|<\|\w+\|>|<end_of_turn>|\r\n?"), "\n"),
    (re.compile(r"<(\w+)>"), r"\1: "),
    (re.compile(r"(?<![0-9])\*+|\*+(?![0-9])|(?<![^\W_])_+|_+(?![^\W_])"), ""),
    (re.compile(r'[\[\]{}"|]'), " "),
    (re.compile(r"^ *(?:[-•>#]+ +)+", re.MULTILINE), ""),
    (re.compile(r" +"), " "),
)
_SCALE = re.compile(
    rf"""(?:
        (?P<scale>(?:\b(?:on|in|using|with)\ )?(?:\b(?:a|the)\ )?\bscale\ (?:of|from|:)\ ?)
        |\b(?:from|between)\ |\(
    )
    (?P<low>{NUMBER}|[A-Z]\b)\ ?(?:[-–—]|to\b|and\b)\ ?(?P<high>{FIGURES}|{WORD}|[A-Z]\b)\)?
    |(?<=[a-z])\ \(?out\ of\ (?P<top>{NUMBER})\)?(?=\ ?[:=])""",
    re.IGNORECASE | re.VERBOSE,
)
_REFUSAL = re.compile(
    r"""\A\W*(?:(?:i'm|i\ am|we're|we\ are)\ (?:\w+\ )?)?(?:sorry|apologies|i\ apologi[sz]e)\b
    |\bas\ an?\ (?:ai|(?:\w+\ )?language\ model)\b[^.]{0,200}
        \b(?:cannot|can't|unable|not\ able|don't|do\ not)\b
    |\b(?:i|we)(?:'m|\ am|'re|\ are)?\ (?:
        cannot|can't|can\ not|could\ not|couldn't|won't|will\ not|unable\ to|not\ able\ to|do\ not|don't
    )\ (?:\w+\ ){0,3}?(?:
        rate|score|evaluate|assess|judge|grade|assist|help|provide|give|comply|answer|determine|fulfil\w*
        |complete|continue|engage|discuss|(?:have|hold)\ (?:\w+\ )?(?:opinions?|access|information|context)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def without_thoughts(reply: str) -> str:
    """Return the reply without a reasoning model's thoughts; empty if it has nothing else."""
    return _THOUGHTS.sub("", reply)


def plain(reply: str) -> str:
    """Return the reply without quotations and without markup of Markdown, XML, JSON and LaTeX.

    Quoted phrases come from the judged text, which may imitate a verdict.
    """
    text = _QUOTED.sub(_unquoted, reply.translate(_CHARACTERS))
    for markup, instead in _MARKUP:
        text = markup.sub(instead, text)
    return text.strip()


def _unquoted(found: re.Match[str]) -> str:
    if found["whole"] is not None:
        return found["whole"]
    words = found["text"] or found["single"] or ""
    return " " if re.search(r"[^\W\d]", words) and " " in words else f" {words} "


def is_refusal(text: str) -> bool:
    return bool(_REFUSAL.search(text))


def is_unclosed(reply: str) -> bool:
    """Return whether the reply ends in a number within an open bracket."""
    return bool(_UNCLOSED.search(reply))


def json_entry(reply: str, name: re.Pattern[str]) -> str | None:
    """Return the value of a JSON object's only entry with such a name, or None."""
    found = _FENCED_OBJECT.fullmatch(reply)
    if not found:
        return None
    try:
        entries = read_json(found[1])
    except ValueError:
        return None
    values = [value for key, value in entries.items() if name.fullmatch(key)]
    return str(values[0]) if len(values) == 1 and isinstance(values[0], str | int | float) else None


def without_scale(text: str, scale: MarkScale) -> tuple[str, bool]:
    """Return the text without its scale ("on a scale of 1 to 5"), and whether it names another."""
    names_another = False

    def look(found: re.Match[str]) -> str:
        nonlocal names_another
        ends = (found["top"],) if found["top"] else (found["low"], found["high"])
        if _are_ends(ends, scale):
            return " "
        names_another = names_another or bool(found["scale"] or found["top"])
        return found[0]

    return re.sub(" +", " ", _SCALE.sub(look, text)).strip(), names_another


def _are_ends(written: tuple[str, ...], scale: MarkScale) -> bool:
    """Return whether these are the ends of `scale`, or its upper end alone."""
    if scale.letters:
        return written == (scale.letters[0], scale.letters[-1])
    if any(len(end) == 1 and end.isalpha() for end in written):
        return False
    return [number_of(end) for end in written] == [scale.low, scale.high][-len(written) :]


READER_VERSION = 2
"""Part of the fingerprints of judges; increased when any reply would be read differently."""


@dataclass(frozen=True)
class Reading:
    """The mark on the requested scale, or the reason why there is none."""

    value: float | None = None
    reason: Unread | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError(f"value {self.value} with reason {self.reason}")

    @classmethod
    def of(cls, verdicts: list[float | Unread]) -> "Reading":
        """Return what all verdicts say; unparsable if they differ or there is none."""
        said = set(verdicts)
        only = said.pop() if len(said) == 1 else Unread.UNPARSABLE
        return cls(reason=only) if isinstance(only, Unread) else cls(only)


def read_score(reply: str, scale: MarkScale, *, quality: str = "", cut: bool = False) -> Reading:
    """Return the mark on `scale` that `reply` gives, or why it gives none.

    `quality` is the name of what was judged, with which many replies start ("Fluency: 0.8"). `cut` says that
    the reply broke off at a length limit: then only a mark at its start counts.

    A verdict is a mark alone on its line; at the start, followed by a pause or a new sentence; after "score",
    "rating" and the like, after `quality` or a verb that awards, where later ones called final or overall
    take precedence; or the only such entry of a JSON object. All must agree. Without any, marks with a unit
    count ("4 out of 5", "★★★"). Other numbers describe the texts ("Errors: 1"). A reasoning model's thoughts
    and quotations do not count; a verdict beside a refusal, or on another scale, is none.
    """
    if not reply.strip():
        return Reading(reason=Unread.EMPTY)
    reply = without_thoughts(reply)
    if not reply.strip():
        return Reading(reason=Unread.TRUNCATED)
    written = json_entry(reply, _name(quality)) or reply
    text, names_another_scale = without_scale(plain(written), scale)
    patterns = _patterns(scale, quality)
    if cut:
        opening = patterns.opening.match(text)
        values = _values([opening] if opening else [], scale)
        return Reading.of(values) if values and not names_another_scale else Reading(reason=Unread.TRUNCATED)
    if is_unclosed(written) or patterns.broken_off.search(text):
        return Reading(reason=Unread.TRUNCATED)
    verdicts = _verdicts(text, scale, patterns)
    if is_refusal(text):
        return Reading(reason=Unread.UNPARSABLE if verdicts else Unread.REFUSED)
    return Reading(reason=Unread.UNPARSABLE) if names_another_scale else Reading.of(verdicts)


def is_json_verdict(reply: str, quality: str = "") -> bool:
    """Return whether the reply is a JSON object with one entry for the verdict."""
    return json_entry(without_thoughts(reply), _name(quality)) is not None


@dataclass(frozen=True)
class _Patterns:
    """Patterns that find verdicts; each but `broken_off` contains one mark of the scale."""

    mark: re.Pattern[str]
    alone: re.Pattern[str]
    opening: re.Pattern[str]
    named: re.Pattern[str]
    awarded: re.Pattern[str]
    broken_off: re.Pattern[str]


_NAMES = ("scores?", "ratings?", "grade", "mark", "verdict", "answer", "judge?ment", "choice", "option")
_VERBS = r"""(?:
    rate[sd]?|rating|give[sn]?|giving|gave|assign(?:s|ed|ing)?|award(?:s|ed|ing)?|earn(?:s|ed|ing)?
    |receiv(?:es?|ed|ing)|deserv(?:es?|ed|ing)|merit(?:s|ed|ing)?|gets?|getting|scor(?:es?|ed|ing)|say|choose|pick
)"""
_OBJECT = r"(?:it|this|that|them|the|summary|text|with|at|as|by|an?)"
_AWARD = rf"""(?:
    \bI(?:'d|'ll|\ would|\ will)?\ {_VERBS}(?:\ {_OBJECT})*
    |\b{_VERBS}(?:\ {_OBJECT})*\ (?:an?|(?:it|this|summary|text)(?:\ (?:with|at|as))?)
    |\b{_VERBS}(?:\ {_OBJECT})*(?=\ [\w.]+[ -]stars?\b)
)"""
_LINK = r"""(?:[ \n:=]|[ ][-–—][ ]|[-=]>|→|\b(?:
    is|was|of|would|will|should|be|an?|the|as|at|for|given|it|this|its|summary|text|therefore|thus
)\b)"""
_ANOTHER = rf"\s*(?:(?:or|and|to|maybe|perhaps)\ )?{NUMBER}"
_NEW_SENTENCE = r"""[ ](?=(?-i:
    The|This|These|That|It|Its|There|Here|Overall|While|Although|Though|However|Because|Since|As|Given
    |Explanation|Justification|Reason|Reasoning|Rationale|Note
)\b)"""
_PAUSE = rf"""(?:
    \)?[.!:;)]+(?=\s)|[ ][-–—][ ]|[ ]?\(|,?[ ](?:because|since|as|due|but|given|for)\b|{_NEW_SENTENCE}
)(?!{_ANOTHER})"""
_BOUNDARY = re.compile(
    rf"""(?:
        \s*(?:\n|$)|[ ]?[,.;:!?)]+(?=\s|$)|[ ]?[-–—](?=[ ])|[ ]?\(
        |[ ](?:for|on|in|with|because|since|as|due|based|given)\b
        |{_NEW_SENTENCE}
    )(?!{_ANOTHER})""",
    re.IGNORECASE | re.VERBOSE,
)
_NEXT_OF_A_LIST = re.compile(r"^(?:[0-9]+|[A-Z])[.):]\ ", re.MULTILINE | re.VERBOSE)


@cache
def _patterns(scale: MarkScale, quality: str) -> _Patterns:
    names = _names(quality)
    name = rf"""(?i:\b(?:
        (?P<final>(?:final|overall|total)[ _](?:{names})|(?:final|overall)(?=[ ]?[:=]))|{names}
    )\b(?!'))"""
    breaks = [rf"{name}(?i:{_LINK}*?(?:[:=]|\b(?:is|of|be)))\s*\Z", rf"{NUMBER}[ ]?(?:/|out(?:\ of)?)\s*\Z"]
    if scale.decimals and scale.low <= 0:
        breaks.append(r"(?<![\w.,])[+-]?0[.,]\s*\Z")  # 0 and a full stop, or the beginning of 0.85
    pause = rf"(?:{_PAUSE}|,\ )" if scale.words else _PAUSE  # "Yes, it does."
    sources = {
        "mark": scale.mark,
        "alone": rf"^[ (]*{scale.mark}[ )]*[.!,;]?[ )]*$",
        "opening": rf"\A[ (]*{scale.mark}(?i:\s*\n|{pause})",
        "named": rf"{name}(?P<link>(?i:{_LINK}*?))[ (]*{scale.mark}",
        "awarded": rf"(?i:{_AWARD}\ ){scale.mark}",
        "broken_off": "|".join(breaks),
    }
    return _Patterns(
        **{key: re.compile(source, re.VERBOSE | re.MULTILINE) for key, source in sources.items()}
    )


def _name(quality: str) -> re.Pattern[str]:
    return re.compile(_names(quality), re.IGNORECASE | re.VERBOSE)


def _names(quality: str) -> str:
    """Return the pattern of what may precede a verdict: words for it, and the quality's name."""
    own = r"[\ _]".join(re.escape(word) for word in re.split(r"[\s_]+", quality) if word)
    return "|".join([*_NAMES, own] if own else _NAMES)


def _verdicts(text: str, scale: MarkScale, patterns: _Patterns) -> list[float | Unread]:
    """Return the marks in places of a verdict; without any, marks with a unit."""
    candidates = [found for found in patterns.named.finditer(text) if scale.value(found) is not None]
    named = [found for found in candidates if _ends(found)]
    if any(":" in found["link"] for found in candidates if found not in named):
        return [Unread.UNPARSABLE]  # "Score: 0.6 Score: 0.8", "Score: 3 errors"
    if named and named[-1]["final"]:
        places = [found for found in named if found["final"]]
    else:
        places = named + [found for found in patterns.awarded.finditer(text) if _ends(found)]
    places += patterns.alone.finditer(text)
    opening = patterns.opening.match(text)
    if opening and not _NEXT_OF_A_LIST.search(text, opening.end()):
        places.append(opening)
    values = _values(places, scale)
    if values or not scale.has_numbers:
        return values
    with_unit = [
        found for found in patterns.mark.finditer(text) if _is_in_units(found, scale) and _ends(found)
    ]
    return _values(with_unit, scale)


def _values(found: list[re.Match[str]], scale: MarkScale) -> list[float | Unread]:
    values = (scale.value(match) for match in found)
    return [value for value in values if value is not None]


def _ends(found: re.Match[str]) -> bool:
    """Return whether the mark ends there, and does not count something ("3 goals")."""
    return bool(_BOUNDARY.match(found.string, found.end()))


def _is_in_units(found: re.Match[str], scale: MarkScale) -> bool:
    """Return whether the mark names the scale's highest mark as its unit, or is drawn as stars."""
    if not scale.has_numbers:
        return False
    return number_of(found["top"]) == scale.high if found["top"] else bool(found["glyphs"])
