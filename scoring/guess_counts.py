"""BLANC's counts: hidden words guessed with and without the summary's help, and its two measures of them."""

from collections import Counter
from collections.abc import Sequence

Outcomes = Counter[tuple[bool, bool]]
"""(guessed without the summary, guessed with it) -> number of hidden words."""

Guessed = tuple[bool, ...] | None
"""For each hidden word of an input whether it was guessed; None where it could not be computed."""


def outcomes_of(guessed: Sequence[tuple[Guessed, Guessed]]) -> Outcomes | None:
    """Over pairs of inputs without and with the summary; None where one could not be computed."""
    outcomes: Outcomes = Counter()
    for without, with_ in guessed:
        if without is None or with_ is None:
            return None
        outcomes.update(zip(without, with_, strict=True))
    return outcomes


def measured(outcomes: Outcomes, measure: str) -> float:
    """Of one hidden word at least: "relative" in [-1, 1], or "improve" in [0, 1], 0 if all were lost."""
    gained, lost, hidden = outcomes[False, True], outcomes[True, False], outcomes.total()
    if measure == "relative":
        return (gained - lost) / hidden
    return gained / (hidden - lost) if hidden > lost else 0.0


def in_words(outcomes: Outcomes) -> str:
    return (
        f"of {outcomes.total()} hidden words: {outcomes[False, True]} guessed only with the summary, "
        f"{outcomes[True, False]} only without it, {outcomes[True, True]} either way, "
        f"{outcomes[False, False]} never"
    )
