"""What counts in a project at one revision, read from the database: the one place where rows become arrays.

A revision changes with everything that counts, so a snapshot is kept as long as its revision is current. What
is read for the next one is what has changed since, if the revisions in between say so; else everything.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from threading import Lock

from django.db import connection

from annotation import protocol
from annotation.collector import collector_at_rest
from annotation.consistent_read import consistent_read
from annotation.models import Project, Questionnaire, Rater
from metaeval.judgements import Evaluator, HumanRatings, Labels, Summaries
from metaeval.label_rules import labels_by
from metaeval.published import published
from metaeval.reading.changes import Changes, changes_since
from metaeval.reading.columns import columns, whole_numbers
from metaeval.reading.ratings import (
    RatingRows,
    latest_rating_at,
    question_ratings,
    read_ratings,
    renewed_ratings,
)
from metaeval.reading.scores import ScoresOfSetups, read_evaluators, read_scores, renewed_scores
from metaeval.reading.summaries import SummaryRows, read_summaries
from metaeval.stats.arrays import Ints

KEPT_PROJECTS = 4


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All that a project's numbers stand on."""

    revision: int
    n_ratings: int
    """Finished ratings that count."""
    latest_rating_at: datetime | None
    summary_ids: Ints
    """(summaries,) primary keys."""
    summaries: Summaries
    """Those that people are to rate or have rated; gold summaries and bare references are not among them."""
    human: HumanRatings
    evaluators: tuple[Evaluator, ...]
    """Those with a score, or a reason for none, on any summary; by label."""
    tried: tuple[Evaluator, ...]
    """Versions of judges as their trials see them: every article outside the tuning part counts as seen. One
    for which the sealed part was opened is among `evaluators`, too."""
    without_scores: tuple[str, ...]
    """Labels of the others."""

    def labels(self, group: str = "", rule: str = "mean") -> tuple[Labels, ...]:
        """The human labels of each question by one of `LABEL_RULES`; of `group` alone if it is given."""
        if (group, rule) not in self._labels:
            self._labels[group, rule] = tuple(
                labels_by(rule, self.human, ratings, len(self.summaries), group)
                for ratings in self.human.questions
            )
        return self._labels[group, rule]

    @cached_property
    def _labels(self) -> dict[tuple[str, str], tuple[Labels, ...]]:
        """Those made so far, by group and rule: some rules take seconds."""
        return {}

    @cached_property
    def of_trials(self) -> "Snapshot":
        """With the versions of judges on the tuning part in place of evaluators."""
        return replace(self, evaluators=self.tried)

    @cached_property
    def published(self) -> "Snapshot":
        """What anybody may know of it once it is published."""
        return replace(self, evaluators=tuple(map(published, self.evaluators)), tried=())


@dataclass(frozen=True, eq=False)
class _Parts:
    """What a snapshot is made of, and what the next one is renewed from."""

    questionnaire: Questionnaire
    ratings: RatingRows
    summaries: SummaryRows
    scores: ScoresOfSetups


@dataclass(frozen=True, eq=False)
class _Kept:
    snapshot: Snapshot
    parts: _Parts


def snapshot_of(project: Project) -> Snapshot:
    """The project as it is now, as far as whoever opened it may know."""
    snapshot = _current(project)
    return snapshot.published if project.only_published else snapshot


def _current(project: Project) -> Snapshot:
    if connection.in_atomic_block:
        # It may show what is rolled back in the end, so it must not be kept.
        return _snapshot(project, _revision(project), _read(project))
    with _lock:  # also while reading: whoever else asks for the same revision had better wait for it
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


@collector_at_rest()
def _read(project: Project) -> _Parts:
    questionnaire = _questionnaire(project)
    ratings = read_ratings(project, list(questionnaire.questions.all()))
    summaries = read_summaries(project, ratings.summaries)
    return _Parts(questionnaire, ratings, summaries, read_scores(project, summaries.ids))


def _renewed_parts(project: Project, kept: _Parts, changes: Changes) -> _Parts | None:
    """`kept` after `changes`; None where they change which summaries there are."""
    questions = list(kept.questionnaire.questions.all())
    ratings = renewed_ratings(project, questions, kept.ratings, changes)
    if not kept.summaries.are_still_those(ratings.summaries):
        return None
    scores = renewed_scores(project, kept.summaries.ids, kept.scores, changes)
    return _Parts(kept.questionnaire, ratings, kept.summaries, scores)


def _questionnaire(project: Project) -> Questionnaire:
    """With its questions. It is another one only after an import, which is no change that is named."""
    return Questionnaire.objects.prefetch_related("questions").get(projects=project)


def _snapshot(project: Project, revision: int, parts: _Parts) -> Snapshot:
    rater_ids, groups = columns(
        Rater.objects.filter(project=project).order_by("pk").values_list("pk", "group"), 2
    )
    questionnaire = parts.questionnaire.protocol
    read = read_evaluators(project, parts.summaries.article_ids, parts.scores)
    return Snapshot(
        revision=revision,
        n_ratings=len(parts.ratings.ids),
        latest_rating_at=latest_rating_at(project),
        summary_ids=parts.summaries.ids,
        summaries=parts.summaries.summaries,
        human=HumanRatings(
            questions=question_ratings(
                parts.ratings, questionnaire.questions, parts.summaries.ids, whole_numbers(rater_ids)
            ),
            rater_groups=groups,
            described="finished ratings by raters in good standing, each answer in its latest revision",
            guideline=f"Questionnaire {questionnaire.key},"
            f" wording {protocol.wording_fingerprint(questionnaire)}.",
        ),
        evaluators=read.evaluators,
        tried=read.tried,
        without_scores=read.without_scores,
    )
