"""The answers that an evaluator card gives in a word, and their look."""

YES, NO, NOT_SHOWN, NOTHING_FOUND, NOT_TESTED = "yes", "no", "not shown", "nothing found", "not tested"
CANNOT_TELL = "cannot tell"
"""The labels are such that no evaluator could be told from a trivial one."""
TONES = {
    YES: "good",
    NOTHING_FOUND: "open",
    NOT_SHOWN: "open",
    NOT_TESTED: "open",
    CANNOT_TELL: "open",
    NO: "bad",
}
"""Answer -> its look: 'good', 'bad' or 'open'."""
