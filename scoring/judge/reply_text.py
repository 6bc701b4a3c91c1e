"""A language model's reply, prepared for reading: without markup and mentions of the scale."""

import re

from annotation.texts.nested_json import read_json
from scoring.judge.score_marks import FIGURES, NUMBER, WORD, MarkScale, number_of

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
