"""A reader's choices on the page of a learning curve."""

from collections.abc import Sequence
from dataclasses import dataclass

from metaeval.live.choices import ComparisonChoices
from metaeval.live.controls import Picks, picks
from metaeval.snapshot.arrays import SetupScores
from metaeval.snapshot.snapshot import Snapshot


@dataclass(frozen=True)
class CurveChoices(ComparisonChoices):
    """The choices of the comparison page; `only` are the comparators."""

    coefficient: str = "pearson"
    items: str = "common"


def curve_picks(
    snapshot: Snapshot, choices: CurveChoices, offered: Sequence[SetupScores], shown: Sequence[SetupScores]
) -> list[Picks]:
    """Return the check boxes; `offered` are the comparators that can be picked, `shown` those compared."""
    by_default = not choices.only
    keys = {each.key for each in shown}
    comparators = Picks(
        "only",
        "Compare with",
        "None picked: all that have scored every test article. Only summaries that all of them have scored"
        " count.",
        [
            (
                each.key,
                f"{each.label} (shown)" if by_default and each.key in keys else each.label,
                each.key in choices.only,
            )
            for each in offered
        ],
    )
    others = [each for each in picks(snapshot, choices) if each.name == "systems"]
    return [comparators, *others]
