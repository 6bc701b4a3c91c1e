"""The adjudicated and gold answers of a project as arrays."""

from collections.abc import Sequence

import numpy as np

from annotation import protocol
from annotation.adjudication.decisions import settled_answers
from annotation.models import Project
from metaeval.snapshot.arrays import Decisions, read_only
from metaeval.snapshot.columns import places_of, whole_numbers
from metaeval.stats.arrays import Ints


def read_decisions(
    project: Project, questions: Sequence[protocol.Question], summary_ids: Ints
) -> dict[str, Decisions]:
    """Return the decisions by question key. Summaries become places among the ascending `summary_ids`.

    Decisions about other summaries are left out: those that nobody has rated.
    """
    by_question: dict[str, list[tuple[int, str]]] = {}
    for summary_id, key, value in settled_answers(project):
        by_question.setdefault(key, []).append((summary_id, value))
    found = {}
    for question in questions:
        rows = by_question.get(question.key, [])
        places = places_of(whole_numbers(pk for pk, _ in rows), summary_ids)
        numbers = [question.scale.number(value) for _, value in rows]
        counted = np.array([np.nan if number is None else number for number in numbers])
        found[question.key] = Decisions(read_only(places[places >= 0]), read_only(counted[places >= 0]))
    return found
