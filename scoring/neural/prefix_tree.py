"""Sequences as a tree of their beginnings, each of which a causal model computes once."""

from collections.abc import Sequence


class PrefixTrees:
    """The distinct beginnings of sequences, one tree for each group of them.

    Nodes are numbered group by group, in the order in which the sequences first reach them.
    """

    def __init__(self, groups: Sequence[Sequence[Sequence[int]]]) -> None:
        self.tokens: list[int] = []
        """The last token of each node's beginning."""
        self.positions: list[int] = []
        """That token's position in its sequences, from 0."""
        self.sizes: list[int] = []
        """Nodes of each group."""
        self.paths: list[list[int]] = []
        """For each sequence, group by group, the nodes of its beginnings."""
        self.firsts: list[int] = []
        """Each node's first position in the concatenation of all paths."""
        self._steps = 0
        for group in groups:
            before = len(self.tokens)
            self._grow(group)
            self.sizes.append(len(self.tokens) - before)

    def _grow(self, group: Sequence[Sequence[int]]) -> None:
        children: dict[tuple[int, int], int] = {}
        for sequence in group:
            node, path = -1, []
            for position, token in enumerate(sequence):
                edge = (node, token)
                if edge not in children:
                    children[edge] = len(self.tokens)
                    self.tokens.append(token)
                    self.positions.append(position)
                    self.firsts.append(self._steps + position)
                node = children[edge]
                path.append(node)
            self.paths.append(path)
            self._steps += len(path)
