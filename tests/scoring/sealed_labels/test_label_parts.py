"""Assigning articles to parts by seed and id."""

from collections import Counter

import pytest

from scoring.sealed_labels.label_parts import LabelPart, Shares


def test_assignment_never_changes():
    """Stored splits depend on it: another hash would move sealed labels into the tuning part."""
    found = [Shares(0, 0.2, 0.4).part_of(f"a{n}")[0] for n in range(12)]
    assert "".join(found) == "spttssppptst"


def test_parts_have_the_requested_shares():
    counts = Counter(Shares(7, 0.2, 0.3).part_of(f"article-{n}") for n in range(20_000))
    assert counts[LabelPart.POOL] / 20_000 == pytest.approx(0.2, abs=0.01)
    assert counts[LabelPart.TUNING] / 20_000 == pytest.approx(0.3, abs=0.01)


def test_larger_tuning_share_takes_articles_from_the_sealed_part_only():
    before, after = Shares(1, 0.2, 0.3), Shares(1, 0.2, 0.5)
    for n in range(500):
        was, now = before.part_of(str(n)), after.part_of(str(n))
        assert was == now or (was, now) == (LabelPart.SEALED, LabelPart.TUNING)


@pytest.mark.parametrize(
    ("pool", "tuning"), [(0, 0.5), (0.5, 0), (0.5, 0.5), (0.9, 0.2), (float("nan"), 0.2)]
)
def test_every_part_needs_a_share(pool, tuning):
    with pytest.raises(ValueError, match="expected both above 0"):
        Shares(0, pool, tuning)
