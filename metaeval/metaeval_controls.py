"""What a reader of the meta-evaluation page can choose."""

from collections.abc import Sequence
from dataclasses import dataclass

from metaeval.choices import Control, MetaevalChoices
from metaeval.judgements import ALL
from metaeval.label_rules import LABEL_RULES
from metaeval.method import CORRECTION_LABELS, ITEMS, NONE
from metaeval.snapshot import Snapshot
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import INTERVALS


@dataclass(frozen=True)
class Picks:
    """A choice of any number; none picked stands for all."""

    name: str
    title: str
    help: str
    options: Sequence[tuple[str, str, bool]]
    """Values, their names, and whether each is picked."""

    @property
    def is_a_choice(self) -> bool:
        return len(self.options) > 1

    @property
    def n_picked(self) -> int:
        return sum(picked for _, _, picked in self.options)


def controls(snapshot: Snapshot, choices: MetaevalChoices) -> list[Control]:
    groups = snapshot.human.groups
    return [
        Control("level", "Level", [(name, level.label) for name, level in LEVELS.items()], choices.level),
        Control(
            "coefficient",
            "Coefficient",
            [(name, coefficient.label) for name, coefficient in COEFFICIENTS.items()],
            choices.coefficient,
        ),
        _one_of_all("language", "Language", snapshot.summaries.language_names, choices.language),
        _one_of_all("dataset", "Dataset", snapshot.summaries.dataset_names, choices.dataset),
        Control("group", "Raters", [("", "all"), *((name, name) for name in groups)], choices.group),
        Control(
            "labels", "Labels", [(name, rule.label) for name, rule in LABEL_RULES.items()], choices.labels
        ),
    ]


def _one_of_all(name: str, label: str, names: Sequence[str], chosen: str) -> Control:
    each = [(value, value) for value in names] if len(names) > 1 else []
    return Control(name, label, [(ALL, "all"), *each], chosen)


def method_controls(choices: MetaevalChoices) -> list[Control]:
    return [
        Control(
            "interval",
            "Interval",
            [(NONE, "none"), *((name, each.label) for name, each in INTERVALS.items())],
            choices.interval,
        ),
        Control(
            "test",
            "Test between evaluators",
            [(NONE, "none"), *((name, each.label) for name, each in TESTS.items())],
            choices.test,
        ),
        Control(
            "correction",
            "Correction for many tests",
            [(NONE, "none"), *((name, CORRECTION_LABELS[name]) for name in CORRECTIONS)],
            choices.correction,
        ),
        Control("items", "Summaries", list(ITEMS.items()), choices.items),
    ]


def picks(snapshot: Snapshot, choices: MetaevalChoices) -> list[Picks]:
    questions = [ratings.question for ratings in snapshot.human.questions]
    return [
        Picks(
            "only",
            "Evaluators",
            "None picked compares all. An article that one of the compared has seen is left out for all.",
            [(each.key, each.label, each.key in choices.only) for each in snapshot.evaluators],
        ),
        Picks(
            "questions",
            "Questions",
            "None picked shows all.",
            [(each.key, each.title, each.key in choices.questions) for each in questions],
        ),
        Picks(
            "systems",
            "Systems",
            "None picked takes the summaries of all.",
            [(name, name, name in choices.systems) for name in snapshot.summaries.system_names],
        ),
    ]
