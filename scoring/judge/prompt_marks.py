"""The marks that a judge may reply, and their conversion from and to labels in [0, 1]."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from scoring.judge.score_marks import MarkScale


@dataclass(frozen=True)
class MarkMenu:
    """The possible marks: `menu` has them in even steps from the lowest (worth 0) to the highest (1)."""

    scale: MarkScale
    menu: tuple[str, ...]
    kind: str
    """The JSON type of a mark."""

    @cached_property
    def worth(self) -> Mapping[str, float]:
        """Mark on the menu -> its worth, from 0 to 1."""
        steps = len(self.menu) - 1
        return {mark: place / steps for place, mark in enumerate(self.menu)}

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Spelling -> its mark: "yes", "Yes" and "YES" -> "Yes". Numbers have one."""
        return {spelt: mark for mark in self.menu for spelt in (mark, mark.lower(), mark.upper())}

    @property
    def are_single_tokens(self) -> bool:
        """Return whether each mark is one token in common tokenizers, so that its probability can be read."""
        return not self.scale.decimals

    @property
    def schema(self) -> str:
        """JSON schema of an object with one mark, its `score`."""
        mark: dict[str, object] = {"type": self.kind}
        if self.are_single_tokens:
            mark["enum"] = [json.loads(each) if self.kind == "integer" else each for each in self.menu]
        return json.dumps(
            {
                "type": "object",
                "properties": {"score": mark},
                "required": ["score"],
                "additionalProperties": False,
            }
        )

    def value(self, read: float) -> float:
        """Return the worth, from 0 to 1, of a mark read on `scale`."""
        return (read - self.scale.low) / (self.scale.high - self.scale.low)

    def written(self, label: float) -> str | None:
        """Return a label from 0 to 1 as a mark; None for 0.5 between only two marks.

        Decimals: the label with two decimals. Otherwise the nearest mark, the higher one halfway.
        """
        if self.scale.decimals:
            return f"{label:.2f}"
        if self.has_no_middle and label == 0.5:
            return None
        return self.menu[math.floor(label * (len(self.menu) - 1) + 0.5)]

    @property
    def has_no_middle(self) -> bool:
        return len(self.menu) == 2


MARKS: Mapping[str, MarkMenu] = {
    "decimals": MarkMenu(
        MarkScale(0, 1, decimals=True), tuple(f"{step / 20:.2f}" for step in range(21)), "number"
    ),
    "1-5": MarkMenu(MarkScale(1, 5), ("1", "2", "3", "4", "5"), "integer"),
    "yes_no": MarkMenu(MarkScale(0, 1, words=("No", "Yes")), ("No", "Yes"), "string"),
}
