from collections.abc import Sequence
from dataclasses import dataclass

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import GENERAL, Evaluator
from scoring.contract.items import Item
from scoring.contract.scores import Scored


class Length(Evaluator):
    """The length of the summary: a count, 0 or more. A baseline that any useful evaluator should beat."""

    name = "length"
    title = "Length"
    version = 1
    source = "trivial baseline"
    formula = "number of words or characters"
    weaknesses = "Length is not quality, although raters' answers often correlate with it."
    cost = "None."
    batch_size = 2048

    @dataclass(frozen=True)
    class Params:
        unit: str = setting(
            "words",
            label="Unit",
            help="Count words or characters.",
            choices={"words": "words", "characters": "characters"},
            phrase="in {}",
            details="Words are separated by white space. Characters serve languages written without spaces; "
            "white space at the ends is left out.",
        )

    params: Params

    def score(self, items: Sequence[Item]) -> list[Scored]:
        return [Scored.of({GENERAL: float(self._length(item.summary))}) for item in items]

    def _length(self, text: str) -> int:
        if is_blank(text):
            return 0
        return len(text.split() if self.params.unit == "words" else text.strip())
