"""A reader's choices on the page of an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from metaeval.live.choices import ComparisonChoices, Control
from metaeval.live.controls import Picks, controls, picks
from metaeval.snapshot.arrays import Labels
from metaeval.snapshot.snapshot import Snapshot


@dataclass(frozen=True)
class ExperimentChoices(ComparisonChoices):
    """The choices of the comparison page; by default only summaries that all members have scored count."""

    items: str = "common"
    named: tuple[str, ...] = ()
    """Names of the systems in the table of systems; none for all."""

    def compared(self, keys: Sequence[str]) -> ComparisonChoices:
        """Return the same choices for the comparison page, with these evaluators."""
        shared = {field.name: getattr(self, field.name) for field in fields(ComparisonChoices)}
        return replace(ComparisonChoices(**shared), only=tuple(keys), evaluator="")


def experiment_controls(
    snapshot: Snapshot, choices: ExperimentChoices, shown: Labels | None, columns: Sequence[Labels]
) -> list[Control]:
    """Return the menus. `shown` is the question of the tables of pairs and systems."""
    questions = [(each.key, each.title) for each in columns]
    of_tables = Control("question", "Question of tables", questions, shown.key if shown else "")
    return [*controls(snapshot, choices), of_tables]


def experiment_picks(snapshot: Snapshot, choices: ExperimentChoices) -> list[Picks]:
    names = snapshot.summaries.system_names
    named = Picks(
        "named",
        "Systems shown",
        "In the table of systems. None picked: all.",
        [(name, name, name in choices.named) for name in names],
    )
    return [*(each for each in picks(snapshot, choices) if each.name != "only"), named]
