"""Texts joined into one sequence, and cut together."""

from hypothesis import given
from hypothesis import strategies as st

from scoring.neural.segments import Marks, cut_lengths, joined

ROBERTA, BERT = Marks(0, (2, 2), 2), Marks(1, (3,), 3)


def test_cut_equals_the_authors(subtests):
    cases = [
        ((100, 280), 380, [100, 280]),
        ((30, 512), 380, [30, 350]),
        ((512, 30), 380, [350, 30]),
        ((190, 512), 380, [190, 190]),
        ((191, 512), 380, [29, 350]),
        ((200, 230), 380, [175, 205]),
        ((60, 1024), 100, [60, 40]),
        ((300, 1024), 100, [50, 50]),
        ((512, 512, 512), 512, [170, 170, 170]),
        ((40, 500, 60), 380, [40, 280, 60]),
        ((40, 500, 200), 380, [40, 170, 170]),
        ((120, 500, 200), 380, [120, 130, 130]),
        ((126, 500, 200), 380, [126, 127, 127]),
        ((126, 500, 127), 380, [126, 127, 127]),
        ((130, 140, 150), 380, [116, 126, 136]),
        ((130, 512, 512), 380, [126, 126, 126]),
    ]
    for lengths, limit, cut in cases:
        with subtests.test(lengths=lengths, limit=limit, cut=cut):
            assert cut_lengths(lengths, limit) == cut


@given(st.lists(st.integers(2, 600), min_size=2, max_size=3), st.integers(12, 700))
def test_cut_fits_and_is_minimal(lengths, limit):
    cut = cut_lengths(lengths, limit)
    assert all(0 < new <= old for new, old in zip(cut, lengths, strict=True))
    assert sum(cut) <= limit
    if sum(lengths) > limit:
        assert sum(cut) > limit - len(lengths)


def test_texts_are_between_special_tokens_and_cut_ones_keep_the_end_token():
    sequence, shares = joined([(10, 11), (20, 21, 22, 23), ()], ROBERTA, 5, 100)
    assert sequence.ids == (0, 10, 11, 2, 2, 20, 21, 22, 2, 2, 2)
    assert sequence.lengths == (4, 5, 2)
    assert shares == (1, 0.75, 1)


def test_an_encoder_with_one_mark_between_texts_gets_one():
    sequence, shares = joined([(10, 11), (20, 21, 22, 23), ()], BERT, 5, 100)
    assert sequence.ids == (1, 10, 11, 3, 20, 21, 22, 23, 3, 3)
    assert sequence.lengths == (4, 5, 1)
    assert sequence.numbers == [0, 0, 0, 0, 1, 1, 1, 1, 1, 2]
    assert shares == (1, 1, 1)


def test_shares_include_the_joint_cut():
    sequence, shares = joined([(10, 11), tuple(range(20, 40))], ROBERTA, 100, 16)
    assert sequence.ids == (0, 10, 11, 2, 2, *range(20, 30), 2)
    assert shares == (1, 0.5)
