"""The part of an article follows from the seed and its id, and the shares come out."""

from collections import Counter

import pytest

from scoring.alignment.parts import Part, Shares


def test_the_rule_never_changes():
    """Stored splits stand on it: another hash would move sealed labels into the tuning part."""
    found = [Shares(0, 0.2, 0.4).part_of(f"a{n}")[0] for n in range(12)]
    assert "".join(found) == "spttssppptst"


def test_shares_come_out():
    counts = Counter(Shares(7, 0.2, 0.3).part_of(f"article-{n}") for n in range(20_000))
    assert counts[Part.POOL] / 20_000 == pytest.approx(0.2, abs=0.01)
    assert counts[Part.TUNING] / 20_000 == pytest.approx(0.3, abs=0.01)


def test_a_larger_tuning_share_takes_from_the_sealed_part_alone():
    before, after = Shares(1, 0.2, 0.3), Shares(1, 0.2, 0.5)
    for n in range(500):
        was, now = before.part_of(str(n)), after.part_of(str(n))
        assert was == now or (was, now) == (Part.SEALED, Part.TUNING)


@pytest.mark.parametrize(
    ("pool", "tuning"), [(0, 0.5), (0.5, 0), (0.5, 0.5), (0.9, 0.2), (float("nan"), 0.2)]
)
def test_every_part_needs_a_share(pool, tuning):
    with pytest.raises(ValueError, match="expected both above 0"):
        Shares(0, pool, tuning)
