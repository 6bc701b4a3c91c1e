"""The pages of adjudication: the queue, and one summary with all answers. They show raters' pseudonyms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import protocol
from annotation.adjudication.decisions import DecidedAnswer, decide_answers, decisions_on, withdraw_decision
from annotation.errors import InvalidAnswers
from annotation.models import Adjudication, Answer, GoldRating, Project, Summary
from annotation.permissions import Permission
from annotation.summaries.find_summaries import (
    RatingRow,
    find_summaries,
    ratings_of,
    references_of,
    summary_in,
)
from annotation.templatetags.texts import answer_label
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.adjudication.disputes import DEFINITION, answered_both, distances
from metaeval.disagreements.votes import Votes, votes_on
from metaeval.live.choices import Choices, Control
from metaeval.live.controls import dataset_control, language_control, raters_control
from metaeval.live.news import download
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

    @property
    def is_decided(self) -> bool:
        return all(dispute.decision for dispute in self.disputes)


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


ANSWER = "answer-"  # + question key
NOTE = "note-"


@dataclass(frozen=True)
class QuestionToDecide:
    question: protocol.Question
    answers: Sequence[tuple[RatingRow, Answer | None]]
    """Each rating with its current answer; None where the question was not asked."""
    decision: Adjudication | None
    earlier: Sequence[Adjudication]
    """Changed and withdrawn decisions, oldest first."""
    value: str
    note: str
    error: str

    @property
    def is_in_dispute(self) -> bool:
        """Return whether raters whose ratings count gave different answers."""
        counted = {answer.value for row, answer in self.answers if answer and not row.left_out}
        return len(counted) > 1


def read_decisions(data: QueryDict, questionnaire: protocol.Questionnaire) -> dict[str, DecidedAnswer]:
    """Return the decided questions of a form. One with neither answer nor note is undecided."""
    given = {
        question.key: DecidedAnswer(
            data.get(ANSWER + question.key, ""), data.get(NOTE + question.key, "").strip()
        )
        for question in questionnaire.questions
    }
    return {key: each for key, each in given.items() if each.value or each.note}


def questions_to_decide(
    summary: Summary,
    given: Mapping[str, DecidedAnswer] | None = None,
    errors: Mapping[str, str] | None = None,
) -> list[QuestionToDecide]:
    """Return every question with its ratings and decisions, or with what was `given` and refused."""
    rows = ratings_of(summary)
    made = list(decisions_on(summary))
    found = []
    for place, question in enumerate(summary.project.questionnaire.protocol.questions):
        of_question = [each for each in made if each.question.key == question.key]
        decision = next((each for each in of_question if each.ended_at is None), None)
        stored = DecidedAnswer(decision.value, decision.note) if decision else DecidedAnswer("")
        shown = stored if given is None else given.get(question.key, DecidedAnswer(""))
        found.append(
            QuestionToDecide(
                question=question,
                answers=[(row, _current(row.answers[place])) for row in rows],
                decision=decision,
                earlier=[each for each in of_question if each.ended_at is not None],
                value=shown.value,
                note=shown.note,
                error=(errors or {}).get(question.key, ""),
            )
        )
    return found


def _current(revisions: Sequence[Answer]) -> Answer | None:
    return next((each for each in revisions if each.is_current), None)


ROWS_ON_A_PAGE = 25


@require_safe
def adjudication(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the queue of summaries on which raters disagree."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    queue = queue_of(project, QueueChoices.read(request.GET))
    page = Paginator(queue.listed, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "queue": queue,
        "page": page,
        "rows": queue_rows(project, queue, [int(place) for place in page]),
        "query": queue.choices.address().removeprefix("?"),
        "may_decide": Permission.ADJUDICATE in project.reader_may,
    }
    return render(request, "metaeval/adjudication/adjudication.html", context)


@require_safe
def adjudication_csv(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    queue = queue_of(project, QueueChoices.read(request.GET))
    return download(list(queue_as_rows(project, queue)), f"{slug}-adjudication.csv")


@require_http_methods(["GET", "HEAD", "POST"])
def adjudicate(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    """Show a summary with all answers. POST decides some questions and shows the next summary."""
    is_post = request.method == "POST"
    needed = Permission.ADJUDICATE if is_post else Permission.SEE_TEXTS_AND_RATINGS
    project = open_project(request, slug, needed)
    queue = queue_of(project, QueueChoices.read(request.GET))
    if not is_post:
        return _item_page(request, project, queue, summary_id)
    given = read_decisions(request.POST, project.questionnaire.protocol)
    try:
        made = decide_answers(project, request.user, summary_id, given)
    except InvalidAnswers as refused:
        missing = {key: "Choose an answer for this note." for key, each in given.items() if not each.value}
        errors = {**refused.fields, **missing}
        return _item_page(request, project, queue, summary_id, given, errors)
    if made:
        address = reverse("adjudicate", args=[slug, summary_id]) + queue.choices.address()
        done = "Decision saved." if len(made) == 1 else f"{len(made)} decisions saved."
        messages.success(request, format_html('{} <a href="{}">View or change</a>', done, address))
    else:
        messages.info(request, "No decision was changed.")
    following = _neighbours(queue, summary_id)[1]
    if following is None:
        return redirect(reverse("adjudication", args=[slug]) + queue.choices.address())
    return redirect(reverse("adjudicate", args=[slug, following]) + queue.choices.address())


@require_POST
def adjudication_withdraw(
    request: SignedInRequest, slug: str, summary_id: int, question_key: str
) -> HttpResponse:
    project = open_project(request, slug, Permission.ADJUDICATE)
    withdraw_decision(project, request.user, summary_id, question_key)
    messages.success(request, "Decision withdrawn. It is kept among the earlier decisions.")
    choices = QueueChoices.read(request.GET)
    return redirect(reverse("adjudicate", args=[slug, summary_id]) + choices.address())


def _neighbours(queue: Queue, summary_id: int) -> tuple[int | None, int | None, int]:
    """Return the previous and the next summary of the queue, and the number of this one; 0 outside it.

    From outside the queue, for example after a decision, its first summary is next.
    """
    ids = queue.summary_ids
    if summary_id not in ids:
        return None, next(iter(ids), None), 0
    at = ids.index(summary_id)
    return (ids[at - 1] if at else None), (ids[at + 1] if at + 1 < len(ids) else None), at + 1


def _item_page(
    request: SignedInRequest,
    project: Project,
    queue: Queue,
    summary_id: int,
    given: Mapping[str, DecidedAnswer] | None = None,
    errors: Mapping[str, str] | None = None,
) -> HttpResponse:
    summary = summary_in(project, summary_id)
    questions = questions_to_decide(summary, given, errors)
    previous, following, number = _neighbours(queue, summary_id)
    context = {
        "summary": summary,
        "references": references_of(summary),
        "disputed": [each for each in questions if each.is_in_dispute or each.error],
        "others": [each for each in questions if not (each.is_in_dispute or each.error)],
        "gold": getattr(summary, "gold", None),
        "previous": previous,
        "following": following,
        "number": number,
        "of": len(queue.listed),
        "address": queue.choices.address(),
        "first": queue.choices.question,
        "may_decide": Permission.ADJUDICATE in project.reader_may,
        "sees_names": Permission.MANAGE_PEOPLE in project.reader_may,
    }
    return render(request, "metaeval/adjudication/adjudicate.html", context, status=422 if errors else 200)
