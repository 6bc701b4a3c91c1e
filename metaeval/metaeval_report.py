"""How well evaluators agree with people: the figures of the meta-evaluation page, CSV, command and API."""

from annotation.models import Project
from metaeval.choices import MetaevalChoices
from metaeval.comparison import MetaevalTable, compare, table_of
from metaeval.label_rules import LABEL_RULES
from metaeval.method import Method
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot, snapshot_of


def metaeval_rows(project: Project, choices: MetaevalChoices, method: Method) -> list[dict[str, object]]:
    """Every figure of the project as it is now, as JSON values. Of `choices` those count which choose among
    summaries, labels and evaluators. Raises DomainError for anything that does not exist."""
    return metaeval_table(snapshot_of(project), choices, method).rows()


def metaeval_table(snapshot: Snapshot, choices: MetaevalChoices, method: Method) -> MetaevalTable:
    """The table for the summaries, human labels and evaluators that were chosen, under the contamination
    guard. Raises DomainError for anything that does not exist."""
    human = snapshot.human
    for key in choices.questions:
        refuse_unknown("question", key, tuple(ratings.question.key for ratings in human.questions))
    refuse_unknown("group", choices.group, ("", *human.groups))
    refuse_unknown("labels", choices.labels, tuple(LABEL_RULES))
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
