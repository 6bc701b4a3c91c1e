"""What a reader of an experiment's page has chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from metaeval.choices import Control, MetaevalChoices
from metaeval.judgements import Labels
from metaeval.metaeval_controls import Picks, controls, picks
from metaeval.snapshot import Snapshot


@dataclass(frozen=True)
class ExperimentChoices(MetaevalChoices):
    """Those of the Comparison page, but of the family's evaluators, and on the summaries that all have scored
    unless something else is chosen."""

    items: str = "common"
    named: tuple[str, ...] = ()
    """Names of the systems in the table of systems; none for all."""

    def compared(self, keys: Sequence[str]) -> MetaevalChoices:
        """The Comparison page's choices for the same figures, of the evaluators with these keys."""
        shared = {field.name: getattr(self, field.name) for field in fields(MetaevalChoices)}
        return replace(MetaevalChoices(**shared), only=tuple(keys), evaluator="")


def experiment_controls(
    snapshot: Snapshot, choices: ExperimentChoices, shown: Labels | None, columns: Sequence[Labels]
) -> list[Control]:
    """`shown` is the question of the tables of pairs and of systems, one of `columns`."""
    questions = [(each.key, each.title) for each in columns]
    of_tables = Control("question", "Pairs and systems on", questions, shown.key if shown else "")
    return [*controls(snapshot, choices), of_tables]


def experiment_picks(snapshot: Snapshot, choices: ExperimentChoices) -> list[Picks]:
    names = snapshot.summaries.system_names
    named = Picks(
        "named",
        "Systems named",
        "Those in the table of systems. None picked shows all.",
        [(name, name, name in choices.named) for name in names],
    )
    return [*(each for each in picks(snapshot, choices) if each.name != "only"), named]
