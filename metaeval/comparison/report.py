"""Agreement of evaluators with human labels: the figures of the page, its files, the command and the API."""

from metaeval.comparison.comparison import ComparisonTable, compare, table_of
from metaeval.live.choices import ComparisonChoices
from metaeval.live.strangers import refuse_resamples
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import Method


def comparison_table(snapshot: Snapshot, choices: ComparisonChoices, method: Method) -> ComparisonTable:
    """Return the table for the chosen summaries, labels and evaluators; `method` replaces the choice of one.

    Raises DomainError for a choice that does not exist, and for too many resamples of published results.
    """
    refuse_resamples(snapshot, method.resamples)
    human = snapshot.human
    for key in choices.questions:
        check_choice("question", key, tuple(ratings.question.key for ratings in human.questions))
    comparison = compare(
        snapshot.summaries,
        snapshot.evaluators,
        language=choices.language,
        dataset=choices.dataset,
        systems=choices.systems,
        only=choices.only,
    )
    labels = [
        each
        for each in snapshot.labels(choices.group, choices.labels)
        if not choices.questions or each.key in choices.questions
    ]
    return table_of(comparison, labels, method)
