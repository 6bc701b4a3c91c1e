"""The shares and seeds of a learning curve. Pure."""

FEWEST_SHARES, MOST_SHARES = 2, 12
MOST_SEEDS = 10
USUAL_SHARES = "10, 25, 50, 100"
USUAL_SEEDS = 3
LOWEST_PERCENT = 0.1


def read_shares(text: str) -> tuple[float, ...]:
    """Return the percentages in `text`, separated by commas, as ascending shares above 0 to 1.

    Raises ValueError for what is no number from 0.1 to 100, for duplicates, and for fewer than two or more
    than twelve.

    >>> read_shares("100, 10%, 25")
    (0.1, 0.25, 1.0)
    """
    shares = [_share(part.strip()) for part in text.split(",") if part.strip()]
    twice = sorted({share for share in shares if shares.count(share) > 1})
    if twice:
        raise ValueError(f"{', '.join(map(percent, twice))}: given twice, expected each share once")
    if not FEWEST_SHARES <= len(shares) <= MOST_SHARES:
        raise ValueError(f"found {len(shares)}, expected {FEWEST_SHARES} to {MOST_SHARES} shares")
    return tuple(sorted(shares))


def refuse_seeds(seeds: int) -> None:
    """Raise ValueError for a number of seeds outside 1 to 10."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise ValueError(f"found {seeds}, expected 1 to {MOST_SEEDS} seeds")


def percent(share: float) -> str:
    """Return a share in words.

    >>> percent(0.125)
    '12.5%'
    """
    return f"{100 * share:.6g}%"


def _share(text: str) -> float:
    expected = f"expected a percentage from {LOWEST_PERCENT:g} to 100"
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        raise ValueError(f"found {text!r}, {expected}") from None
    if not LOWEST_PERCENT <= number <= 100:
        raise ValueError(f"found {text!r}, {expected}")
    return number / 100
