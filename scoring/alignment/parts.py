"""Which part of a project's labels an article is in. Pure: the same in every copy of the project."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256


class Part(StrEnum):
    POOL = "pool"
    """In-context examples come from these articles."""
    TUNING = "tuning"
    """Trials are measured on these."""
    SEALED = "sealed"
    """Nobody looks at these before a version is settled."""


@dataclass(frozen=True)
class Shares:
    """Raises ValueError unless every part gets a share."""

    seed: int
    pool: float
    """0 to 1, as is `tuning`; sealed is the rest."""
    tuning: float

    def __post_init__(self) -> None:
        if not (self.pool > 0 and self.tuning > 0 and self.pool + self.tuning < 1):
            raise ValueError(
                f"shares: found pool {self.pool:g} and tuning {self.tuning:g}, expected both above 0 and "
                "together below 1, so that some articles stay sealed"
            )

    def part_of(self, article: str) -> Part:
        """The part of the article with this external id, whatever other articles there are."""
        digest = sha256(f"{self.seed}\x1f{article}".encode()).digest()
        place = int.from_bytes(digest[:8], "big") / 2**64
        if place < self.pool:
            return Part.POOL
        return Part.TUNING if place < self.pool + self.tuning else Part.SEALED
