from collections.abc import Sequence
from dataclasses import dataclass

from scoring.contract import GENERAL, Evaluator, Item, Scored
from scoring.params import param


class Length(Evaluator):
    """How long the summary is: a count, 0 or more. A baseline any useful evaluator should beat."""

    name = "length"
    title = "Length"
    version = 1
    source = "trivial baseline"
    formula = "number of words or characters"
    weaknesses = "Length is no quality; but raters' answers go along with it more often than one would like."
    cost = "Nothing."
    batch_size = 2048

    @dataclass(frozen=True)
    class Params:
        unit: str = param(
            "words",
            choices=("words", "characters"),
            doc="What is counted: words (separated by white space) or characters (for languages that "
            "write without spaces; white space at the ends left out).",
        )

    params: Params

    def score(self, items: Sequence[Item]) -> list[Scored]:
        count = _words if self.params.unit == "words" else _characters
        return [Scored.of({GENERAL: float(count(item.summary))}) for item in items]


def _words(text: str) -> int:
    return len(text.split())


def _characters(text: str) -> int:
    return len(text.strip())
