"""Gold rounds: a new rater rates gold summaries until they pass a round.

Unseen summaries are drawn first, and each answer as often as the others.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, takewhile
from random import Random, SystemRandom

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import CampaignClosed, DomainError, NotAllowed
from annotation.gold.answer_sheets import Sheets, agreed_in_rounds, agreed_sheets, given_in_rounds
from annotation.gold.gold_set import SHOWS_GOLD
from annotation.gold.qualification import Decision, QuestionResult, Thresholds, decide
from annotation.gold.qualified_languages import qualified_languages, qualified_raters, qualify_by_round
from annotation.guidelines.following import require_confirmed
from annotation.models import Assignment, Project, QualificationRound, Rater, Summary
from annotation.permissions import Permission, require
from annotation.protocol import Sheet
from annotation.templatetags.texts import language_name

Seen = tuple[int, int]
"""The times a rater has seen a summary, and the last round of these. (0, 0) is unseen."""
Stratum = tuple[str, str]
"""A question and one of its gold answers."""


def sample_round(
    sheets: Mapping[int, Sheet], seen: Mapping[int, Seen], size: int, chance: Random
) -> list[int]:
    """Return at most `size` of the summaries in `sheets`, which holds their gold answers, in random order.

    Those seen least often and longest ago come first. Among equals the choice makes the answers to all
    questions as even as possible: it first raises the rarest answer, then the next rarest. It starts from a
    greedy choice and exchanges single summaries until no exchange helps.
    """

    def order(pk: int) -> Seen:
        return seen.get(pk, (0, 0))

    chosen: list[int] = []
    for _, equals in groupby(sorted(sheets, key=order), key=order):
        level = list(equals)
        room = size - len(chosen)
        if len(level) > room:
            chance.shuffle(level)
            level = _most_even(sheets, chosen, level, room)
        chosen += level
    chance.shuffle(chosen)
    return chosen


def unevenness(sheets: Mapping[int, Sheet], chosen: Sequence[int]) -> tuple[int, ...]:
    """Return how many answers come up 0 times among `chosen`, then once, twice and so on.

    Answers are those of all `sheets`, by question. The less of two tuples is the more even choice.
    """
    counts = _Counts(sheets, len(chosen))
    for pk in chosen:
        counts.add(pk, 1)
    times = Counter(counts.of.values())
    return tuple(times[number] for number in range(len(chosen) + 1))


def _most_even(sheets: Mapping[int, Sheet], kept: Sequence[int], level: list[int], room: int) -> list[int]:
    """Return `room` of `level` that are most even together with `kept`."""
    among = {pk: sheets[pk] for pk in [*kept, *level]}
    counts = _Counts(among, len(kept) + room)
    for pk in kept:
        counts.add(pk, 1)
    taken: list[int] = []
    left = list(level)
    for _ in range(room):
        best = min(left, key=counts.change)
        left.remove(best)
        taken.append(best)
        counts.add(best, 1)
    while _exchange_one(counts, taken, left):
        pass
    return taken


def _exchange_one(counts: "_Counts", taken: list[int], left: list[int]) -> bool:
    """Exchange one of `taken` for one of `left` if that is more even. Return whether it did."""
    for i, old in enumerate(taken):
        before = counts.total
        counts.add(old, -1)
        best = min(range(len(left)), key=lambda j: counts.change(left[j]), default=None)
        if best is not None and counts.total + counts.change(left[best]) < before:
            counts.add(left[best], 1)
            taken[i], left[best] = left[best], old
            return True
        counts.add(old, 1)
    return False


class _Counts:
    """A counter of answers, with `total`, a number that is less for a more even choice.

    In base `_base`, the digits of `total` are how many answers come up 0 times, once, twice and so on.
    """

    def __init__(self, sheets: Mapping[int, Sheet], size: int) -> None:
        self._strata = {pk: tuple(sheet.items()) for pk, sheet in sheets.items()}
        self.of: dict[Stratum, int] = {stratum: 0 for own in self._strata.values() for stratum in own}
        self._base = len(self.of) + 1
        self._size = size
        self.total = len(self.of) * self._weight(0)

    def _weight(self, times: int) -> int:
        return int(self._base ** (self._size - times))

    def change(self, pk: int) -> int:
        """Return by how much adding the summary changes `total`."""
        return sum(
            self._weight(self.of[stratum] + 1) - self._weight(self.of[stratum])
            for stratum in self._strata[pk]
        )

    def add(self, pk: int, times: int) -> None:
        for stratum in self._strata[pk]:
            self.total += self._weight(self.of[stratum] + times) - self._weight(self.of[stratum])
            self.of[stratum] += times


ROUND_LEASE = timedelta(days=30)  # no other rater waits for it


def gold_available(project: Project, language: str) -> int:
    """Count the gold summaries in this language that new rounds may take."""
    return _gold_in(project, language).count()


def _gold_in(project: Project, language: str) -> QuerySet[Summary]:
    return Summary.objects.in_new_rounds(project).filter(article__language=language)


def round_size(project: Project, done: int) -> int:
    """Return the most gold summaries in the next round after `done` rounds in the same language."""
    return project.gold_round_size if done == 0 else project.gold_retry_size


def open_round(rater: Rater, language: str) -> QualificationRound | None:
    return rater.rounds.filter(language=language, decided_at__isnull=True).first()


def rounds_used_up(rater: Rater, language: str) -> bool:
    """Return whether a manager decides what follows: the rater failed as many rounds as are allowed.

    Rounds before the last passed one do not count.
    """
    decided = rater.rounds.filter(language=language, decided_at__isnull=False).order_by("-number")
    return are_used_up(rater.project, decided.values_list("passed", flat=True))


def are_used_up(project: Project, passed: Iterable[bool | None]) -> bool:
    """Return as `rounds_used_up` from whether a rater passed each decided round, the latest first."""
    failed = list(takewhile(lambda each: not each, passed))
    return 0 < project.gold_rounds <= len(failed)


def start_round(rater: Rater, language: str) -> QualificationRound:
    """Return the rater's open gold round in this language, or start the next one.

    Raises NotAllowed for suspended and removed raters, for a language that they do not have or are qualified
    in, without gold summaries in it, once a manager decides and in a closed campaign, and
    GuidelinesUnconfirmed.
    """
    with transaction.atomic():
        rater = _locked(rater)
        _check_may_train(rater, language)
        require_confirmed(rater)
        running = open_round(rater, language)
        if running is None and rounds_used_up(rater, language):
            message = gettext(
                "You have not passed the rounds that %(project)s allows. "
                "Its manager decides whether you try again."
            )
            raise NotAllowed(message % {"project": rater.project.name})
        return running or _new_round(rater, language)


def allow_round(rater: Rater, user: User, language: str) -> QualificationRound:
    """Start another gold round for a rater whose rounds are used up.

    Raises NotAllowed and NotFound unless `user` manages the project's people, NotAllowed as `start_round`,
    and DomainError if the rater can start a round without it.
    """
    require(user, rater.project, Permission.MANAGE_PEOPLE)
    with transaction.atomic():
        rater = _locked(rater)
        _check_may_train(rater, language)
        if open_round(rater, language) is not None or not rounds_used_up(rater, language):
            raise DomainError(f"{rater.pseudonym} can already do a round in {language_name(language)}.")
        record(Action.ROUND_ALLOWED, rater.project, rater, details={"language": language})
        return _new_round(rater, language, user)


@dataclass(frozen=True)
class WaitingRater:
    rater: Rater
    language: str


def raters_waiting(project: Project) -> list[WaitingRater]:
    """Return the qualifying or qualified raters for whom a manager has to decide, by language."""
    if not project.gold_rounds:
        return []
    trying = (
        project.raters.filter(status__in=[Rater.Status.TRAINING, Rater.Status.QUALIFIED])
        .filter(rounds__passed=False)
        .distinct()
    )
    rounds: dict[tuple[int, str], list[bool | None]] = {}
    latest_first = QualificationRound.objects.filter(rater__project=project).order_by("-number")
    for rater_id, language, passed in latest_first.values_list("rater", "language", "passed"):
        rounds.setdefault((rater_id, language), []).append(passed)
    qualified = qualified_raters(project)
    return [
        WaitingRater(rater, language)
        for rater in trying
        for language in rater.languages
        if language not in qualified.get(rater.pk, ())
        and (passed_each := rounds.get((rater.pk, language)))
        and None not in passed_each  # such a round is open
        and are_used_up(project, passed_each)
    ]


def _locked(rater: Rater) -> Rater:
    return Rater.objects.select_for_update(of=("self",)).select_related("project").get(pk=rater.pk)


def _check_may_train(rater: Rater, language: str) -> None:
    names = {"rater": rater, "project": rater.project.name, "language": language_name(language)}
    if rater.project.closed_at is not None:
        raise CampaignClosed
    if rater.status == Rater.Status.SUSPENDED:
        raise NotAllowed(gettext("Gold rounds are for active raters. %(rater)s is suspended.") % names)
    if rater.status == Rater.Status.REMOVED:
        raise NotAllowed(gettext("Gold rounds are for active raters. %(rater)s is removed.") % names)
    if language not in rater.languages:
        raise NotAllowed(gettext("Choose one of your languages first."))
    if language in qualified_languages(rater):
        raise NotAllowed(gettext("%(rater)s is already qualified in %(language)s.") % names)
    if not gold_available(rater.project, language):
        message = gettext("%(project)s has no gold summaries in %(language)s yet. Its manager can add some.")
        raise NotAllowed(message % names)


def _new_round(rater: Rater, language: str, allowed_by: User | None = None) -> QualificationRound:
    """Start the rater's next round, with the gold summaries that `sample_round` chooses."""
    size = round_size(rater.project, rater.rounds.filter(language=language).count())
    seen = {
        row["summary"]: (row["times"], row["last"])
        for row in Assignment.objects.filter(SHOWS_GOLD, rater=rater)
        .values("summary")
        .annotate(times=Count("pk"), last=Coalesce(Max("round__number"), 0))
    }
    sheets = agreed_sheets(_gold_in(rater.project, language))
    now = timezone.now()
    started = QualificationRound.objects.create(
        rater=rater, language=language, number=rater.rounds.count() + 1, allowed_by=allowed_by
    )
    Assignment.objects.bulk_create(
        Assignment(
            rater=rater,
            summary_id=summary_id,
            round=started,
            stage_opened_at=now,
            leased_until=now + ROUND_LEASE,
        )
        for summary_id in sample_round(sheets, seen, size, SystemRandom())
    )
    return started


def next_in_round(current: QualificationRound) -> Assignment | None:
    """Return the round's next unfinished summary."""
    return current.assignments.held().order_by("pk").first()


def decide_when_finished(current: QualificationRound, now: datetime) -> None:
    """Decide the round once its last summary is rated. Passing qualifies the rater in its language."""
    if current.decided_at is not None or next_in_round(current) is not None:
        return
    decision = decision_today(current)
    current.passed = decision.passed
    current.results = {
        result.question: [result.matched, result.asked, result.threshold] for result in decision.results
    }
    current.decided_at = now
    current.save(update_fields=["passed", "decided_at", "results"])
    if current.passed:
        qualify_by_round(current, now)


def round_decision(decided: QualificationRound) -> Decision:
    """Return the rater's agreement with gold by question, as it decided the round."""
    if not decided.results:
        return decision_today(decided)
    return Decision(tuple(QuestionResult(question, *result) for question, result in decided.results.items()))


def decision_today(current: QualificationRound) -> Decision:
    """Return the rater's agreement with today's gold answers, against the thresholds of the round.

    A round that is not decided, and questions that had no gold answer, take the project's thresholds.
    """
    return decisions_today([current])[current.pk]


def decisions_today(rounds: Collection[QualificationRound]) -> dict[int, Decision]:
    """Return the decision of each round as `decision_today`, by its id, in a fixed number of queries."""
    agreed, given = agreed_in_rounds(rounds), given_in_rounds(rounds)
    return {each.pk: _decided_today(each, agreed.get(each.pk, {}), given.get(each.pk, {})) for each in rounds}


def _decided_today(current: QualificationRound, gold: Sheets, given: Sheets) -> Decision:
    now = thresholds(current.rater.project)
    then = {question: threshold for question, (_, _, threshold) in current.results.items()}
    limits = Thresholds(now.default, {**now.by_question, **then})
    return decide([(gold[pk], given.get(pk, {})) for pk in gold], limits)


def thresholds(project: Project) -> Thresholds:
    return Thresholds(project.gold_threshold, project.gold_thresholds)
