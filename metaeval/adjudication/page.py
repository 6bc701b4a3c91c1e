"""The queue of summaries on which raters disagree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Adjudication, GoldRating, Project, Summary
from annotation.summaries.find_summaries import find_summaries
from annotation.templatetags.texts import answer_label
from metaeval.adjudication.disputes import DEFINITION, answered_both, distances
from metaeval.disagreements.votes import Votes, votes_on
from metaeval.live.choices import Choices, Control
from metaeval.live.controls import dataset_control, language_control, raters_control
from metaeval.snapshot.arrays import ALL, QuestionRatings
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.check_choice import check_choice

OPEN, DECIDED, EVERY = "open", "decided", "all"
STATES = {OPEN: "to decide", DECIDED: "decided", EVERY: "all"}


@dataclass(frozen=True)
class QueueChoices(Choices):
    question: str = ""
    """Key; all questions if empty."""
    language: str = ALL
    dataset: str = ALL
    group: str = ""
    one: str = ""
    other: str = ""
    """The second answer: only summaries that got both this and `one` are listed. Empty for any."""
    state: str = OPEN
    """One of `STATES`."""


@dataclass(frozen=True)
class Dispute:
    """One question on which raters of a summary disagree."""

    title: str
    votes: Votes
    decision: Adjudication | None


@dataclass(frozen=True)
class QueueRow:
    summary: Summary
    disputes: Sequence[Dispute]


@dataclass(frozen=True, eq=False)
class Queue:
    snapshot: Snapshot
    choices: QueueChoices
    controls: Sequence[Control]
    questions: Sequence[QuestionRatings]
    """The chosen question, or all; their disagreements decide the order."""
    distances: Floats
    """(questions, summaries) how far apart raters are; see `DEFINITION`."""
    listed: Ints
    """Indices of summaries, the heaviest first."""
    n_open: int
    n_decided: int
    n_rated_twice: int
    """Summaries with two ratings or more in the project."""
    definition: str = DEFINITION

    @property
    def summary_ids(self) -> list[int]:
        """The primary keys of the listed summaries, in order."""
        found: list[int] = self.snapshot.summary_ids[self.listed].tolist()
        return found

    @property
    def answers(self) -> tuple[str, str] | None:
        """The two answers that summaries must have, as readers see them; None for any."""
        if not self.choices.one:
            return None
        return answer_label(self.choices.one), answer_label(self.choices.other)

    @property
    def without_answers(self) -> str:
        """The address of the same queue with any answers."""
        return self.choices.address(one="", other="")


def queue_of(project: Project, choices: QueueChoices) -> Queue:
    """Return the queue for these choices. Raises DomainError for a choice that does not exist.

    A summary is decided if each of its chosen questions in dispute has a decision or a gold answer, or if it
    is in the gold set.
    """
    snapshot = snapshot_of(project)
    human, summaries = snapshot.human, snapshot.summaries
    by_key = {each.question.key: each for each in human.questions}
    check_choice("question", choices.question, ("", *by_key))
    check_choice("language", choices.language, (ALL, *summaries.language_names))
    check_choice("dataset", choices.dataset, (ALL, *summaries.dataset_names))
    check_choice("group", choices.group, ("", *human.groups))
    check_choice("state", choices.state, tuple(STATES))
    chosen = [by_key[choices.question]] if choices.question else list(human.questions)
    apart = np.array([distances(human, each, len(summaries), choices.group) for each in chosen])
    within = summaries.in_language(choices.language) & summaries.of_dataset(choices.dataset)
    if choices.one or choices.other:
        values = chosen[0].values if choices.question else ()
        check_choice("one", choices.one, values)
        check_choice("other", choices.other, values)
        within = within & answered_both(
            human, chosen[0], len(summaries), choices.one, choices.other, choices.group
        )
    in_dispute = within & (apart > 0).any(axis=0)
    decided = _decided(project, snapshot, chosen, apart)
    wanted = {OPEN: in_dispute & ~decided, DECIDED: in_dispute & decided, EVERY: in_dispute}[choices.state]
    times = _most_ratings(snapshot)
    listed = np.flatnonzero(wanted)
    weight = apart.sum(axis=0).round(9)  # equal weights must not differ by the order of sums
    return Queue(
        snapshot=snapshot,
        choices=choices,
        controls=_controls(snapshot, choices),
        questions=chosen,
        distances=apart,
        listed=listed[np.lexsort((listed, -times[listed], -weight[listed]))],
        n_open=int((in_dispute & ~decided).sum()),
        n_decided=int((in_dispute & decided).sum()),
        n_rated_twice=int((times > 1).sum()),
    )


def _decided(
    project: Project, snapshot: Snapshot, questions: Sequence[QuestionRatings], apart: Floats
) -> Bools:
    """Return the summaries with nothing left to decide, (summaries,)."""
    is_left = apart > 0
    for row, ratings in zip(is_left, questions, strict=True):
        row[snapshot.human.decisions_on(ratings.question.key).summaries] = False
    gold = GoldRating.objects.filter(summary__project=project, retired_at__isnull=True)
    in_gold_set: Bools = np.isin(snapshot.summary_ids, list(gold.values_list("summary", flat=True)))
    return in_gold_set | ~is_left.any(axis=0)


def _most_ratings(snapshot: Snapshot) -> Ints:
    """Return the ratings of each summary, by the question that has most of them, (summaries,)."""
    n = len(snapshot.summaries)
    counts = [np.bincount(each.summaries, minlength=n) for each in snapshot.human.questions]
    return np.max(counts, axis=0)


def _controls(snapshot: Snapshot, choices: QueueChoices) -> list[Control]:
    questions = [(each.question.key, each.question.title) for each in snapshot.human.questions]
    return [
        Control("state", "Show", list(STATES.items()), choices.state),
        Control("question", "Question", [("", "all"), *questions], choices.question),
        language_control(snapshot, choices.language),
        dataset_control(snapshot, choices.dataset),
        raters_control(snapshot, choices.group),
    ]


def queue_rows(project: Project, queue: Queue, places: Sequence[int]) -> list[QueueRow]:
    """Return the rows of these summaries (indices), in their order."""
    ids = {place: int(queue.snapshot.summary_ids[place]) for place in places}
    summaries = find_summaries(project).in_bulk(list(ids.values()))
    votes = [votes_on(queue.snapshot.human, each, places, queue.choices.group) for each in queue.questions]
    decisions = {
        (each.summary_id, each.question.key): each
        for each in Adjudication.objects.current().filter(summary__in=ids.values()).select_related("question")
    }
    return [
        QueueRow(
            summaries[ids[place]],
            [
                Dispute(each.question.title, given[place], decisions.get((ids[place], each.question.key)))
                for each, given, apart in zip(queue.questions, votes, queue.distances, strict=True)
                if apart[place] > 0
            ],
        )
        for place in places
        if ids[place] in summaries
    ]


def queue_as_rows(project: Project, queue: Queue) -> Iterator[dict[str, object]]:
    """Yield the whole queue as rows of a file, one for each question in dispute. It names nobody."""
    numbers = Adjudication.objects.adjudicators(project)
    for number, row in enumerate(queue_rows(project, queue, queue.listed.tolist()), start=1):
        for dispute in row.disputes:
            decision = dispute.decision
            yield {
                "place": number,
                "summary": row.summary.pk,
                "article": row.summary.article.external_id,
                "system": row.summary.system.name,
                "language": row.summary.article.language,
                "question": dispute.title,
                "answers": "; ".join(f"{answer} {times}" for answer, times in dispute.votes.answers),
                "decision": decision.value if decision else "",
                "note": decision.note if decision else "",
                "adjudicator": f"adjudicator-{numbers[decision.decided_by_id]}" if decision else "",
                "decided_at": decision.decided_at.isoformat() if decision else "",
            }
