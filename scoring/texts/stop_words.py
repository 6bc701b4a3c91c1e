"""English function words, which metrics leave out because they occur in every text."""

from collections.abc import Iterable
from typing import Any

from annotation.declared.settings import setting

_ENGLISH = """
    a about above after again against all am an and any are as at
    be because been before being below between both but by can
    d did do does doing don down during each few for from further
    had has have having he her here hers herself him himself his how
    i if in into is it its itself just ll m ma me more most my myself
    no nor not now o of off on once only or other our ours ourselves out over own
    re s same she should so some such
    t than that the their theirs them themselves then there these they this those through to too
    under until up ve very was we were what when where which while who whom why will with
    y you your yours yourself yourselves
    ain aren couldn didn doesn hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn
    aren't couldn't didn't doesn't don't hadn't hasn't haven't isn't it's mightn't mustn't needn't
    shan't she's should've shouldn't that'll wasn't weren't won't wouldn't you'd you'll you're you've
"""
ENGLISH = frozenset(_ENGLISH.split())
"""179 words, with contractions both whole and in tokenised parts."""

LISTS = {"none": frozenset[str](), "english": ENGLISH}


def stop_list_setting(default: str, note: str = "") -> Any:
    """Declare the setting `stop_list`."""
    return setting(
        default,
        label="Stop words",
        help="Words to leave out: none, or 179 English function words.",
        choices={"none": "no stop words", "english": "English stop words"},
        details=note,
    )


def stop_words_setting() -> Any:
    """Declare the setting `stop_words`."""
    return setting((), label="More stop words", help="Further words to leave out.", phrase="without {}")


def chosen(stop_list: str, words: Iterable[str]) -> frozenset[str]:
    """Return the words of the named list (see `LISTS`) and `words`, in lower case."""
    return LISTS[stop_list] | {word.lower() for word in words}
