"""The menus and check boxes of the results pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from metaeval.live.choices import ComparisonChoices, Control, PairChoices
from metaeval.snapshot.arrays import ALL, Labels
from metaeval.snapshot.label_rules import LABEL_RULES
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.constant_scores import CONSTANT
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import (
    BY_LEVEL,
    BY_TEST,
    CORRECTION_LABELS,
    DEFAULT_INTERVALS,
    DEFAULT_TESTS,
    ITEMS,
    NONE,
    ONE_LOOK,
)
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import INTERVALS

MARGINS = ("0.01", "0.02", "0.05", "0.1")
"""The margins on the menu, in units of the coefficient."""


class HasLabel(Protocol):
    @property
    def label(self) -> str: ...


@dataclass(frozen=True)
class Picks:
    """Check boxes of which any number can be picked. None picked means all."""

    name: str
    title: str
    help: str
    options: Sequence[tuple[str, str, bool]]
    """Values, their labels, and whether each is picked."""
    fewest: int = 2
    """The number of options from which on there is a choice."""

    @property
    def is_a_choice(self) -> bool:
        return len(self.options) >= self.fewest

    @property
    def n_picked(self) -> int:
        return sum(picked for _, _, picked in self.options)


def language_control(snapshot: Snapshot, chosen: str) -> Control:
    """Return the menu of languages."""
    return _one_of_all("language", "Language", snapshot.summaries.language_names, chosen)


def dataset_control(snapshot: Snapshot, chosen: str) -> Control:
    """Return the menu of datasets."""
    return _one_of_all("dataset", "Dataset", snapshot.summaries.dataset_names, chosen)


def level_control(chosen: str) -> Control:
    """Return the menu of levels."""
    return Control("level", "Level", _labels(LEVELS), chosen)


def coefficient_control(chosen: str) -> Control:
    """Return the menu of coefficients."""
    return Control("coefficient", "Coefficient", _labels(COEFFICIENTS), chosen)


def constant_control(chosen: str) -> Control:
    """Return the menu of what becomes of articles with equal scores."""
    return Control("constant", "Articles with equal scores", list(CONSTANT.items()), chosen)


def labels_control(chosen: str) -> Control:
    """Return the menu of rules that combine several raters' answers into one label."""
    return Control("labels", "Labels", _labels(LABEL_RULES), chosen)


def raters_control(snapshot: Snapshot, chosen: str) -> Control:
    """Return the menu of groups of raters."""
    groups = [(name, name) for name in snapshot.human.groups]
    mixed = [(ALL, "all together")] if groups else []
    return Control("group", "Raters", [("", "not chosen" if groups else "all"), *mixed, *groups], chosen)


def pair_controls(
    snapshot: Snapshot, choices: PairChoices, questions: Sequence[Labels], evaluator: str, question: str
) -> list[Control]:
    """Return the menus of an evaluator and one of the `questions`, given the keys that are shown."""
    evaluators = [(each.key, each.label) for each in snapshot.evaluators]
    return [
        Control("evaluator", "Evaluator", evaluators, evaluator),
        Control("question", "Question", [(each.key, each.title) for each in questions], question),
        language_control(snapshot, choices.language),
        raters_control(snapshot, choices.group),
        labels_control(choices.labels),
    ]


def controls(snapshot: Snapshot, choices: ComparisonChoices) -> list[Control]:
    return [
        level_control(choices.level),
        coefficient_control(choices.coefficient),
        language_control(snapshot, choices.language),
        dataset_control(snapshot, choices.dataset),
        raters_control(snapshot, choices.group),
        labels_control(choices.labels),
    ]


def _labels(declared: Mapping[str, HasLabel]) -> list[tuple[str, str]]:
    return [(name, each.label) for name, each in declared.items()]


def _one_of_all(name: str, label: str, names: Sequence[str], chosen: str) -> Control:
    each = [(value, value) for value in names] if len(names) > 1 else []
    return Control(name, label, [(ALL, "all"), *each], chosen)


def method_controls(choices: ComparisonChoices) -> list[Control]:
    usual = [
        (BY_LEVEL, "holds at every look until the campaign is closed"),
        (ONE_LOOK, "default of the level for one look"),
        (NONE, "none"),
    ]
    of_number = [(name, CORRECTION_LABELS[name]) for name in CORRECTIONS]
    corrections = [(BY_TEST, "the one for the test"), (NONE, "none"), *of_number]
    return [
        Control("interval", "Interval", [*usual, *_labels(INTERVALS)], choices.interval),
        Control("test", "Significance test", [*usual, *_labels(TESTS)], choices.test),
        Control("correction", "Multiple testing", corrections, choices.correction),
        Control("margin", "As good as, within", _margins(choices.margin), choices.margin),
        Control("items", "Summaries", list(ITEMS.items()), choices.items),
        constant_control(choices.constant),
    ]


def _margins(chosen: str) -> list[tuple[str, str]]:
    """Return the usual margins, and the chosen one if it is another."""
    offered = [*MARGINS, *({chosen} - {"", *MARGINS})]
    return [("", "not tested"), *((each, each.removeprefix("0")) for each in offered)]


def simulated(level: str) -> list[tuple[str, list[str]]]:
    """Return what simulations at the level show of each interval and each test, under a title for both."""
    held = [
        _shares(each.label, each.coverage[level], is_default=name == DEFAULT_INTERVALS[level])
        for name, each in INTERVALS.items()
        if level in each.coverage
    ]
    found = [
        _shares(each.label, each.false_findings[level], is_default=name == DEFAULT_TESTS[level])
        for name, each in TESTS.items()
        if level in each.false_findings
    ]
    ever_wrong = [
        _shares(each.label, each.ever_wrong, is_default=False)
        for each in INTERVALS.values()
        if each.ever_wrong and level != "system"
    ]
    return [
        ("Intervals that were wrong at some of 72 looks (at most 5% is right)", ever_wrong),
        ("Intervals that held the true value (95% is right)", held),
        ("Tests that told equally good evaluators apart (5% is right)", found),
    ]


def _shares(label: str, shares: Sequence[float], *, is_default: bool) -> str:
    low, high = f"{shares[0]:.0%}", f"{shares[-1]:.0%}"
    return f"{label} {low if low == high else f'{low} to {high}'}{' (default)' if is_default else ''}"


def picks(snapshot: Snapshot, choices: ComparisonChoices) -> list[Picks]:
    questions = [ratings.question for ratings in snapshot.human.questions]
    return [
        Picks(
            "only",
            "Evaluators",
            "None picked: all. Each is measured without the articles that it has seen itself.",
            [(each.key, each.label, each.key in choices.only) for each in snapshot.evaluators],
        ),
        Picks(
            "questions",
            "Questions",
            "None picked: all.",
            [(each.key, each.title, each.key in choices.questions) for each in questions],
        ),
        Picks(
            "systems",
            "Systems",
            "None picked: all.",
            [(name, name, name in choices.systems) for name in snapshot.summaries.system_names],
        ),
    ]
