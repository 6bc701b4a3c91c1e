"""The part of the label split that an article is in; the same in every copy of the project."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256


class LabelPart(StrEnum):
    """A part of a project's label split."""

    POOL = "pool"
    """Source of in-context examples."""
    TUNING = "tuning"
    """Trials are measured on these labels."""
    SEALED = "sealed"
    """Labels that are not used until a version is final."""


@dataclass(frozen=True)
class Shares:
    """Shares of the three parts. Raises ValueError unless every part gets one."""

    seed: int
    pool: float
    """Share of the pool, between 0 and 1, as is `tuning`; sealed is the rest."""
    tuning: float

    def __post_init__(self) -> None:
        if not (self.pool > 0 and self.tuning > 0 and self.pool + self.tuning < 1):
            raise ValueError(
                f"shares: found pool {self.pool:g} and tuning {self.tuning:g}, expected both above 0 and "
                "together below 1, so that some articles stay sealed"
            )

    def part_of(self, article: str) -> LabelPart:
        """Return the part of the article with this external id, independent of other articles."""
        digest = sha256(f"{self.seed}\x1f{article}".encode()).digest()
        place = int.from_bytes(digest[:8], "big") / 2**64
        if place < self.pool:
            return LabelPart.POOL
        return LabelPart.TUNING if place < self.pool + self.tuning else LabelPart.SEALED
