"""Everything that counts in a project at one revision, read from the database into arrays.

Everything that counts changes the revision, so a snapshot stays valid as long as its revision is current. The
next one reads only what changed since, if the revisions in between say so.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from django.db import connection

from annotation import protocol
from annotation.database.consistent_read import consistent_read
from annotation.database.without_gc import without_gc
from annotation.models import Project, Questionnaire, Rater
from metaeval.models import Preregistration
from metaeval.snapshot.arrays import HumanRatings, Labels, QuestionRatings, SetupScores, Summaries, read_only
from metaeval.snapshot.changes import Changes, changes_since
from metaeval.snapshot.database_rows import (
    RatingRows,
    SummaryRows,
    columns,
    latest_rating_at,
    question_ratings,
    read_decisions,
    read_draw_chances,
    read_ratings,
    read_summaries,
    renewed_ratings,
    whole_numbers,
)
from metaeval.snapshot.label_rules import LABEL_RULES, labels_by
from metaeval.snapshot.published import public_name, published_evaluators
from metaeval.snapshot.rater_groups import warning_of_mixing
from metaeval.snapshot.scores import ScoresOfSetups, read_evaluators, read_scores, renewed_scores
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.check_choice import check_choice

KEPT_PROJECTS = 4
UNEVEN = (
    "Summaries that evaluators are unsure about were drawn earlier, so those labelled so far are not an even"
    " sample. Only means of systems are weighted for that."
)

Request = TypeVar("Request", bound=Hashable)
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that a project's figures are computed from."""

    revision: int
    n_ratings: int
    """Finished ratings that count."""
    latest_rating_at: datetime | None
    closed_at: datetime | None
    """Time since which the ratings are final; None while the campaign goes on."""
    n_preregistered: int
    """Comparisons that were stated before their results, withdrawn ones included."""
    summary_ids: Ints
    """(summaries,) primary keys."""
    summaries: Summaries
    """Summaries to rate or already rated, without gold summaries and bare references."""
    human: HumanRatings
    rater_ids: Ints
    """(raters,) primary keys of all raters, ascending."""
    evaluators: tuple[SetupScores, ...]
    """Setups with a score, or a reason for none, on any summary; sorted by label."""
    tried: tuple[SetupScores, ...]
    """Versions of judges as their trials see them: every article outside the tuning part counts as seen. One
    for which the sealed part was opened is among `evaluators`, too."""
    without_scores: tuple[str, ...]
    """Labels of the others."""
    draw_chances: Floats | None = None
    """(summaries,) of `draw_chances`; None if no summary came earlier than others on purpose."""
    is_published: bool = False
    """True if it holds only what anybody may know; articles' ids, which the database has, are not."""

    @property
    def is_live(self) -> bool:
        """Return whether more ratings may come, so that readers look at figures that still change."""
        return self.closed_at is None

    def labels(self, group: str = "", rule: str = "mean") -> tuple[Labels, ...]:
        """Return the human labels of each question by one of `LABEL_RULES`.

        `group` restricts them to its raters. Raises DomainError for an unknown group or rule.
        """
        check_choice("group", group, self.human.group_choices)
        check_choice("labels", rule, tuple(LABEL_RULES))
        if (group, rule) not in self._labels:
            self._labels[group, rule] = tuple(
                self._labels_on(ratings, group, rule) for ratings in self.human.questions
            )
        return self._labels[group, rule]

    def _labels_on(self, ratings: QuestionRatings, group: str, rule: str) -> Labels:
        labels = labels_by(rule, self.human, ratings, len(self.summaries), group)
        warning = warning_of_mixing(self.summaries, self.human, group, ratings.question.key)
        uneven = "" if self.draw_chances is None else UNEVEN
        definition = " ".join(each for each in (labels.definition, uneven, warning) if each)
        return replace(labels, definition=definition, warning=warning)

    @cached_property
    def _labels(self) -> dict[tuple[str, str], tuple[Labels, ...]]:
        """Labels computed so far, by group and rule: some rules take seconds."""
        return {}

    @cached_property
    def of_trials(self) -> "Snapshot":
        """The snapshot with versions of judges, on the tuning part, as evaluators."""
        return replace(self, evaluators=self.tried)

    @cached_property
    def published(self) -> "Snapshot":
        """Return the part of the snapshot that anybody may read once results are published."""
        return replace(
            self,
            evaluators=published_evaluators(self.evaluators),
            tried=(),
            without_scores=tuple(map(public_name, self.without_scores)),
            is_published=True,
        )


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of a snapshot, from which the next one is renewed."""

    questionnaire: Questionnaire
    ratings: RatingRows
    summaries: SummaryRows
    scores: ScoresOfSetups


@dataclass(frozen=True, eq=False)
class _Kept:
    snapshot: Snapshot
    parts: _Parts


class PerSnapshot(Generic[Request, Result]):
    """Results computed from snapshots, kept as long as the snapshot, at most `most` for each."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: WeakKeyDictionary[Snapshot, dict[Request, Result]] = WeakKeyDictionary()
        self._lock = Lock()

    def result(self, snapshot: Snapshot, request: Request, compute: Callable[[], Result]) -> Result:
        """Return the result of an equal request, or compute it."""
        with self._lock:
            found = self._kept.get(snapshot, {}).get(request)
        if found is None:
            found = compute()
            with self._lock:
                kept = self._kept.setdefault(snapshot, {})
                kept[request] = found
                while len(kept) > self._most:
                    del kept[next(iter(kept))]
        return found


def snapshot_of(project: Project) -> Snapshot:
    """Return the project's current snapshot, as far as the reader may see it."""
    snapshot = _current(project)
    return snapshot.published if project.only_published else snapshot


def _current(project: Project) -> Snapshot:
    if connection.in_atomic_block:
        # It may show changes that are rolled back, so it must not be kept.
        return _snapshot(project, _revision(project), _read(project))
    with _lock:  # also while reading, so that others wait for the same revision
        kept = _kept.pop(project.pk, None)
        if kept is None or kept.snapshot.revision != _revision(project):
            with consistent_read():
                kept = _renewed(project, kept)
        _kept[project.pk] = kept  # as the latest used
        while len(_kept) > KEPT_PROJECTS:
            del _kept[next(iter(_kept))]
    return kept.snapshot


_kept: dict[int, _Kept] = {}
_lock = Lock()


def _revision(project: Project) -> int:
    return Project.objects.values_list("revision", flat=True).get(pk=project.pk)


def _renewed(project: Project, kept: _Kept | None) -> _Kept:
    revision = _revision(project)
    changes = kept and changes_since(project, kept.snapshot.revision, revision)
    parts = kept and changes and _renewed_parts(project, kept.parts, changes)
    parts = parts or _read(project)
    return _Kept(_snapshot(project, revision, parts), parts)


@without_gc()
def _read(project: Project) -> _Parts:
    questionnaire = _questionnaire(project)
    ratings = read_ratings(project, list(questionnaire.questions.all()))
    summaries = read_summaries(project, ratings.summaries)
    return _Parts(questionnaire, ratings, summaries, read_scores(project, summaries.ids))


def _renewed_parts(project: Project, kept: _Parts, changes: Changes) -> _Parts | None:
    """Return `kept` updated by `changes`; None if the set of summaries changed."""
    questions = list(kept.questionnaire.questions.all())
    ratings = renewed_ratings(project, questions, kept.ratings, changes)
    if not kept.summaries.are_still_those(ratings.summaries):
        return None
    scores = renewed_scores(project, kept.summaries.ids, kept.scores, changes)
    return _Parts(kept.questionnaire, ratings, kept.summaries, scores)


def _questionnaire(project: Project) -> Questionnaire:
    """Return the questionnaire with its questions. Only an import replaces it."""
    return Questionnaire.objects.prefetch_related("questions").get(projects=project)


def _snapshot(project: Project, revision: int, parts: _Parts) -> Snapshot:
    rater_ids, groups = columns(
        Rater.objects.filter(project=project).order_by("pk").values_list("pk", "group"), 2
    )
    questionnaire = parts.questionnaire.protocol
    closed_at = Project.objects.values_list("closed_at", flat=True).get(pk=project.pk)
    read = read_evaluators(project, parts.summaries.article_ids, parts.scores)
    return Snapshot(
        revision=revision,
        n_ratings=len(parts.ratings.ids),
        latest_rating_at=latest_rating_at(project),
        closed_at=closed_at,
        n_preregistered=Preregistration.objects.filter(project=project).count(),
        summary_ids=parts.summaries.ids,
        summaries=parts.summaries.summaries,
        rater_ids=read_only(whole_numbers(rater_ids)),
        human=HumanRatings(
            questions=question_ratings(
                parts.ratings, questionnaire.questions, parts.summaries.ids, whole_numbers(rater_ids)
            ),
            rater_groups=groups,
            described="finished ratings by raters in good standing, each answer in its latest revision",
            guideline=f"Questionnaire {questionnaire.key},"
            f" wording {protocol.wording_fingerprint(questionnaire)}.",
            decisions=read_decisions(project, questionnaire.questions, parts.summaries.ids),
        ),
        evaluators=read.evaluators,
        tried=read.tried,
        without_scores=read.without_scores,
        draw_chances=read_draw_chances(project, parts.summaries),
    )
