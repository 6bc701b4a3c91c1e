"""Groups of raters, such as experts and crowd workers: whose answers count, and whether groups differ."""

from dataclasses import dataclass
from itertools import combinations
from weakref import WeakKeyDictionary

import numpy as np
from django.utils.text import capfirst

from metaeval.snapshot.arrays import HumanRatings, Summaries
from metaeval.stats.agreement.group_difference import GroupDifference, group_difference


@dataclass(frozen=True)
class DifferingGroups:
    """Two groups whose raters answer one question differently, beyond chance."""

    question: str
    """Key."""
    title: str
    first: str
    second: str
    difference: GroupDifference

    @property
    def said(self) -> str:
        """Return the difference in words: 'crowd and expert differ in level (expert 0.90 points higher)'."""
        found = []
        if self.difference.differs_in_judgement:
            apart = self.difference.judgement.value**0.5
            found.append(f"judgement ({apart:.2f} points apart on a summary)")
        if self.difference.differs_in_level:
            higher = self.first if self.difference.level > 0 else self.second
            found.append(f"level ({higher} {abs(self.difference.level):.2f} points higher)")
        return f"{self.first} and {self.second} differ in {' and in '.join(found)}"


def differing_groups(summaries: Summaries, human: HumanRatings) -> tuple[DifferingGroups, ...]:
    """Return the pairs of groups that differ beyond chance, by question; cached with `human`."""
    if human not in _kept:
        _kept[human] = tuple(_differing(summaries, human)) if human.groups else ()
    return _kept[human]


_kept: WeakKeyDictionary[HumanRatings, tuple[DifferingGroups, ...]] = WeakKeyDictionary()


def _differing(summaries: Summaries, human: HumanRatings) -> list[DifferingGroups]:
    found = []
    for ratings in human.questions:
        numbers = ratings.numbers[ratings.answers]
        for first, second in combinations(human.groups, 2):
            in_first = human.of_group(ratings, first)
            chosen = (in_first | human.of_group(ratings, second)) & ~np.isnan(numbers)
            difference = group_difference(
                ratings.summaries[chosen],
                ratings.raters[chosen],
                numbers[chosen],
                in_first[chosen],
                summaries.articles,
            )
            if difference.differs_in_level or difference.differs_in_judgement:
                question = ratings.question
                found.append(DifferingGroups(question.key, question.title, first, second, difference))
    return found


def groups_apart(summaries: Summaries, human: HumanRatings, group: str) -> tuple[str, ...]:
    """Return the groups to show side by side: all where some differ and no `group` is chosen, else none."""
    return tuple(human.groups) if not group and differing_groups(summaries, human) else ()


def warning_of_mixing(summaries: Summaries, human: HumanRatings, group: str, question: str = "") -> str:
    """Return that groups are mixed without a choice although they differ; else an empty text.

    With a key as `question`, the warning is about that question only.
    """
    if group:
        return ""
    found = [each for each in differing_groups(summaries, human) if question in ("", each.question)]
    if not found:
        return ""
    said = "; ".join(each.said if question else f"{each.title}: {each.said}" for each in found)
    return f"Warning: answers of different groups of raters are mixed. {capfirst(said)}."
