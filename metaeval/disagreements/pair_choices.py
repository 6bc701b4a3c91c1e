"""A reader's choice of one evaluator and one question."""

from dataclasses import dataclass
from urllib.parse import urlencode

from annotation.errors import DomainError
from metaeval.comparison.comparison import compare
from metaeval.disagreements.ranked_pairs import RankedPairs, ranked_pairs
from metaeval.live.choices import Control, PairChoices
from metaeval.live.controls import dataset_control, pair_controls
from metaeval.snapshot.arrays import ALL, Labels, SetupScores
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.check_choice import check_choice


@dataclass(frozen=True)
class ListChoices(PairChoices):
    """The pair, and the summaries to list."""

    dataset: str = ALL
    systems: tuple[str, ...] = ()
    """Names; none for all."""


@dataclass(frozen=True, eq=False)
class Pair:
    evaluator: SetupScores
    question: Labels

    @property
    def address(self) -> str:
        """The query, with its question mark, that selects this pair on any page."""
        return f"?{urlencode({'evaluator': self.evaluator.key, 'question': self.question.key})}"


def chosen_pair(snapshot: Snapshot, choices: PairChoices) -> Pair | None:
    """Return the chosen evaluator and question; None if no evaluator scores any question.

    Raises DomainError for an unknown choice, or if the evaluator does not score the question.
    """
    evaluators = {each.key: each for each in snapshot.evaluators}
    check_choice("evaluator", choices.evaluator, ("", *evaluators))
    labels = {each.key: each for each in snapshot.labels(choices.group, choices.labels)}
    check_choice("question", choices.question, ("", *labels))
    wanted = [labels[choices.question]] if choices.question else list(labels.values())
    compared = [evaluators[choices.evaluator]] if choices.evaluator else list(evaluators.values())
    for evaluator in compared:
        for question in wanted:
            if evaluator.on(question.dimension) is not None:
                return Pair(evaluator, question)
    if compared and (choices.evaluator or choices.question):
        named = " or ".join(each.label for each in compared)
        raise DomainError(
            f"{named} does not score {', '.join(each.title for each in wanted)}. Choose another question."
        )
    return None


def pairs_of(snapshot: Snapshot, choices: ListChoices, pair: Pair) -> tuple[RankedPairs, dict[str, int]]:
    """Return the chosen summaries, ranked, and reason -> articles left out because the evaluator saw them.

    Raises DomainError for an unknown language, dataset or system.
    """
    comparison = compare(
        snapshot.summaries,
        snapshot.evaluators,
        language=choices.language,
        dataset=choices.dataset,
        systems=choices.systems,
        only=[pair.evaluator.key],
        on=pair.question.dimension,
    )
    return ranked_pairs(comparison, pair.evaluator, pair.question), comparison.seen


def list_controls(snapshot: Snapshot, choices: ListChoices, pair: Pair) -> list[Control]:
    """Return the menus of all choices but the systems."""
    scored = [each for each in snapshot.labels() if pair.evaluator.on(each.dimension) is not None]
    of_pair = pair_controls(snapshot, choices, scored, pair.evaluator.key, pair.question.key)
    return [*of_pair, dataset_control(snapshot, choices.dataset)]
