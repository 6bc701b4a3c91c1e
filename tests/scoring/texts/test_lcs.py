from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import _backtrack_norec, _lcs_table

from scoring.texts.lcs import SearchableSequence, SearchableSequences

words = st.lists(st.sampled_from("abcd"), max_size=40)


def bits(number):
    return [index for index in range(number.bit_length()) if number >> index & 1]


@given(st.lists(words, max_size=6), words)
def test_lengths_equal_the_full_table(sequences, candidate):
    expected = [_lcs_table(each, candidate)[-1][-1] for each in sequences]
    assert SearchableSequences(sequences).lcs_lengths(candidate) == expected


@given(words, words)
def test_positions_equal_rouge_scores(sequence, candidate):
    expected = _backtrack_norec(_lcs_table(sequence, candidate), sequence, candidate)
    assert bits(SearchableSequence(sequence).lcs_positions(candidate)) == expected


def test_long_sequences_work():
    sequence = [str(index) for index in range(1000)]
    assert SearchableSequences([sequence, sequence[::-1]]).lcs_lengths(sequence) == [1000, 1]
    assert bits(SearchableSequence(sequence).lcs_positions(sequence[::2])) == list(range(0, 1000, 2))
