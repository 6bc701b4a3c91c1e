"""The base classes of the results pages."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from annotation.templatetags.figures import noun
from metaeval.export.chart import Chart
from metaeval.live.choices import Choices, ComparisonChoices, Control
from metaeval.live.controls import Picks, simulated
from metaeval.snapshot.arrays import ALL, SetupScores
from metaeval.snapshot.rater_groups import DifferingGroups, differing_groups
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Bools
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import BY_LEVEL, NONE, ONE_LOOK, Method
from metaeval.stats.result import each_once
from metaeval.stats.significance.compare_pairs import ALWAYS_VALID_TEST, TESTS
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID

MISSING = (
    "A score that could not be computed is left out and counted with its reason; it is never taken as 0."
    " An undefined value is replaced by the reason."
)


@dataclass(frozen=True, kw_only=True)
class ResultsPage:
    """A page of results: its data, the reader's choices and the menus."""

    snapshot: Snapshot
    choices: Choices
    controls: Sequence[Control]
    definitions: Sequence[str]
    """Definitions of all numbers on the page, each sentence once."""
    is_split_by_group: bool = False
    """True if each of the `mixed_groups` is shown on its own."""
    apart: Sequence[Self] = ()
    """The pages that one made by `side_by_side` shows."""

    @property
    def parts(self) -> Sequence[Self]:
        """The pages whose figures are shown: the page itself, or one for each group of raters."""
        return self.apart or (self,)

    @property
    def charts(self) -> Sequence[Chart]:
        """The charts of the page, each of which is also a file."""
        return ()

    @property
    def looks(self) -> str:
        """Return 'every' if intervals and tests hold at every look, 'one' if one of them does not.

        Empty without any.
        """
        return "one"

    @property
    def for_every_look(self) -> str:
        """Return the query of this page with intervals that hold at every look; empty if it has none."""
        return ""

    @property
    def test(self) -> str:
        """The label of the significance test; empty if there is none."""
        return ""

    @property
    def waits(self) -> int:
        """The number of parts of background results that are still being computed."""
        return 0

    @property
    def group(self) -> str:
        """The chosen group of raters; empty if none is chosen, or if the page has no such choice."""
        return str(getattr(self.choices, "group", ""))

    @property
    def chosen_summaries(self) -> Bools:
        """The summaries that the choices select, (summaries,)."""
        return np.ones(len(self.snapshot.summaries), dtype=bool)

    @property
    def chosen_questions(self) -> Collection[str]:
        """The keys of the questions that the choices select; none for all."""
        return ()

    @property
    def mixed_groups(self) -> Sequence[DifferingGroups]:
        """Groups of raters that differ beyond chance while none is chosen."""
        if self.group or not hasattr(self.choices, "group"):
            return ()
        return differing_groups(self.snapshot.summaries, self.snapshot.human)

    @property
    def ways_out(self) -> Sequence[tuple[str, str]]:
        """The groups to choose from and the address of each choice."""
        names = [(name, name) for name in self.snapshot.human.groups]
        return [(title, self.choices.address(group=name)) for name, title in [*names, (ALL, "all together")]]

    @property
    def paragraphs(self) -> Sequence[str]:
        """Return the methods section of the numbers, for a paper; no paragraphs without numbers."""
        return self.definitions


Page = TypeVar("Page", bound=ResultsPage)


def side_by_side(apart: Sequence[Page], choices: Choices, **changes: Any) -> Page:
    """Return a page that shows the pages of each group of raters, with no group chosen.

    What it has of its own is the first one's, but for the `changes`.
    """
    controls = [replace(each, value="") if each.name == "group" else each for each in apart[0].controls]
    definitions = each_once(sentence for part in apart for sentence in part.definitions)
    return replace(
        apart[0],
        choices=choices,
        controls=controls,
        definitions=definitions,
        apart=apart,
        is_split_by_group=True,
        **changes,
    )


@dataclass(frozen=True, kw_only=True)
class ComparedPage(ResultsPage):
    """A page that compares evaluators."""

    is_for_one_look: ClassVar = False
    """True if no choice gives intervals that hold at every look."""

    choices: ComparisonChoices
    picks: Sequence[Picks]
    seen: Mapping[str, int]
    """Reason -> articles left out because an evaluator has seen them."""

    @property
    def chosen_summaries(self) -> Bools:
        summaries, choices = self.snapshot.summaries, self.choices
        return (
            summaries.in_language(choices.language)
            & summaries.of_dataset(choices.dataset)
            & summaries.by_systems(choices.systems)
        )

    @property
    def chosen_questions(self) -> Collection[str]:
        return self.choices.questions

    @property
    def level(self) -> str:
        return LEVELS[self.choices.level].label

    @property
    def unit(self) -> str:
        """Return the units that the level takes a coefficient or a mean over, such as 'articles'."""
        return LEVELS[self.choices.level].units

    @property
    def coefficient(self) -> str:
        return COEFFICIENTS[self.choices.coefficient].label

    @property
    def method(self) -> Method:
        return self.choices.method(is_live=self.snapshot.is_live)

    @property
    def looks(self) -> str:
        if self.is_for_one_look:
            return "one"
        chosen = {self.method.interval, self.method.test} - {NONE}
        if not chosen:
            return ""
        return "every" if chosen <= {ALWAYS_VALID, ALWAYS_VALID_TEST} else "one"

    @property
    def for_one_look(self) -> str:
        """Return the query of this page with intervals and tests for a single look."""
        return self.choices.address(interval=ONE_LOOK, test=ONE_LOOK)

    @property
    def for_every_look(self) -> str:
        """Return the query of this page with intervals and tests that hold at every look."""
        return "" if self.is_for_one_look else self.choices.address(interval=BY_LEVEL, test=BY_LEVEL)

    @property
    def test(self) -> str:
        """The label of the significance test; empty if none was chosen."""
        test = self.method.test
        return TESTS[test].label if test in TESTS else ""

    @property
    def simulated(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Shares in simulations at this level, of each interval and each test, under a title for both."""
        return simulated(self.choices.level)

    @property
    def method_warnings(self) -> Sequence[str]:
        """Warnings that the interval or the test misleads at this level, by simulations."""
        return self.method.warnings

    @property
    def exploratory(self) -> str:
        """Return how the page's comparisons relate to those that were preregistered."""
        number = noun(self.snapshot.n_preregistered, "comparison was,comparisons were")
        return (
            f"{number} preregistered in this project and tested as a family of their own. The comparisons"
            " given here are exploratory."
        )

    def paragraphs_on(self, evaluators: Sequence[SetupScores]) -> list[str]:
        """Return the definitions, what was left out, and the evaluators with signatures and fingerprints."""
        seen = "; ".join(f"{reason}: {articles:,}" for reason, articles in self.seen.items())
        return [
            "\n".join(self.definitions),
            *([self.exploratory] if self.snapshot.n_preregistered else []),
            f"Left out of the comparison: {seen or 'no articles'}. {MISSING}",
            "\n".join(["Evaluators:", *(_evaluator(each) for each in evaluators)]),
        ]


def _evaluator(evaluator: SetupScores) -> str:
    direction = "" if evaluator.higher_is_better else "; lower is better"
    fingerprint = f"; fingerprint {evaluator.fingerprint}" if evaluator.fingerprint else ""
    return f"- {evaluator.label}: {evaluator.signature}{fingerprint}{direction}"
