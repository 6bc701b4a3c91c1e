import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import GENERAL, Evaluator, Need
from scoring.contract.items import Item
from scoring.contract.scores import EMPTY_SUMMARY, Scored


class CopyRate(Evaluator):
    """A test for a copied beginning: 1 if the article starts with the summary's first 20%, else 0.

    The first 20% are characters, rounded up, compared exactly (including case and punctuation) after runs of
    white space are replaced by one space. The mean over a system's summaries is its copy rate. Higher counts
    as better, since copied text is at least attributable; a negative correlation says the opposite.
    """

    name = "copy_rate"
    title = "Copy rate"
    version = 1
    source = "after Clark et al. 2023 (SEAHORSE); unit, rounding and white space as stated here"
    formula = "1 if the first 20% of the summary stand at the start of the article, else 0"
    weaknesses = "Detects only exact copies of the article's start."
    cost = "None."
    needs = frozenset({Need.ARTICLE})
    batch_size = 2048

    @dataclass(frozen=True)
    class Params:
        share: float = setting(
            0.2,
            label="Leading share",
            help="Share of the summary that must stand at the article's start.",
            low=0.01,
            high=1.0,
            phrase="leading share {}",
        )

    params: Params

    def score(self, items: Sequence[Item]) -> list[Scored]:
        return [self._score(item) for item in items]

    def _score(self, item: Item) -> Scored:
        if is_blank(item.summary):
            return Scored.unscored(self.dimensions, EMPTY_SUMMARY)
        if lacking := self.lacking(item):
            return Scored.unscored(self.dimensions, lacking)
        summary, article = _single_spaced(item.summary), _single_spaced(item.article or "")
        # Rounded first: 0.2 * 15 must be 3 characters, not 4 by a floating hair.
        beginning = summary[: math.ceil(round(self.params.share * len(summary), 9))]
        return Scored.of({GENERAL: float(article.startswith(beginning))})


def _single_spaced(text: str) -> str:
    return " ".join(text.split())
