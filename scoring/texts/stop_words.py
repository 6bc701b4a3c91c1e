"""English function words: those that metrics leave out because they occur in every text."""

from collections.abc import Iterable

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
"""179 words; contractions stand whole and in the parts that tokenizers make of them."""

LISTS = {"none": frozenset[str](), "english": ENGLISH}
LIST_DOC = "A list of words to leave out: none, or the 179 English function words that come with Touchstone."
WORDS_DOC = "Further words to leave out, separated by commas, so that any list can take the place of ours."


def chosen(stop_list: str, words: Iterable[str]) -> frozenset[str]:
    """The words of the list of that name (see `LISTS`) and `words`, all in lower case."""
    return LISTS[stop_list] | {word.lower() for word in words}
