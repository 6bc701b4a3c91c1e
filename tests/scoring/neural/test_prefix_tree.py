"""Trees of sequences with common beginnings."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from scoring.neural.prefix_tree import PrefixTrees

sequences = st.lists(st.integers(0, 3), max_size=6).map(tuple)
groups = st.lists(st.lists(sequences, max_size=5), max_size=4)


def test_beginnings_are_shared_within_a_group_only():
    trees = PrefixTrees([[(7, 8, 9), (7, 8, 5), (7,)], [(7, 8)]])
    assert trees.tokens == [7, 8, 9, 5, 7, 8]
    assert trees.positions == [0, 1, 2, 2, 0, 1]
    assert trees.sizes == [4, 2]
    assert trees.paths == [[0, 1, 2], [0, 1, 3], [0], [4, 5]]
    assert trees.firsts == [0, 1, 2, 5, 7, 8]


@given(groups)
def test_paths_spell_sequences_with_one_node_per_beginning(groups):
    trees = PrefixTrees(groups)
    for path, sequence in zip(trees.paths, chain.from_iterable(groups), strict=True):
        assert tuple(trees.tokens[node] for node in path) == sequence
        assert [trees.positions[node] for node in path] == list(range(len(sequence)))
    assert trees.sizes == [
        len({sequence[:end] for sequence in group for end in range(1, len(sequence) + 1)}) for group in groups
    ]
    steps = list(chain.from_iterable(trees.paths))
    assert [steps[first] for first in trees.firsts] == list(range(len(trees.tokens)))
