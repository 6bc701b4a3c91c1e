"""The ratings that count, one row each, and the arrays made from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import OuterRef, Q, Subquery

from annotation import protocol
from annotation.labels import answered
from annotation.models import Project, Question, Rater, Rating
from metaeval.snapshot.arrays import QuestionRatings, answer_codes, answers_as_numbers, read_only
from metaeval.snapshot.changes import Changes
from metaeval.snapshot.columns import columns, places_of, whole_numbers
from metaeval.stats.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class RatingRows:
    """Finished ratings by raters in good standing, by primary key, without gold rounds."""

    ids: Ints
    """(ratings,) primary keys."""
    summaries: Ints
    """(ratings,) primary keys of what was rated."""
    raters: Ints
    """(ratings,) primary keys."""
    answers: Floats
    """(questions, ratings) the latest `answers_as_numbers`; nan where the question was not asked."""


def read_ratings(
    project: Project,
    questions: Sequence[Question],
    only: Q = Q(),  # noqa: B008 - a Q is never changed
) -> RatingRows:
    """Return the ratings that count and satisfy `only`."""
    rows = Rating.objects.countable().filter(only, summary__project=project)
    ids, summaries, raters = columns(rows.values_list("pk", "summary_id", "rater_id"), 3)
    keys = whole_numbers(ids)
    order = np.argsort(keys)
    keys = keys[order]
    answers = np.full((len(questions), len(keys)), np.nan)
    for column, question in zip(answers, questions, strict=True):
        given = answered(project, question).filter(only).values_list("pk", "answers__value")
        of_ratings, values = columns(given, 2)
        column[places_of(whole_numbers(of_ratings), keys)] = answers_as_numbers(
            question.protocol.scale, values
        )
    return RatingRows(
        ids=keys,
        summaries=whole_numbers(summaries)[order],
        raters=whole_numbers(raters)[order],
        answers=answers,
    )


def renewed_ratings(
    project: Project, questions: Sequence[Question], kept: RatingRows, changes: Changes
) -> RatingRows:
    """Return `kept` updated by `changes`, reading only what changed."""
    if not changes.ratings and not changes.raters:
        return kept
    outdated = np.isin(kept.ids, list(changes.ratings)) | np.isin(kept.raters, list(changes.raters))
    new = read_ratings(project, questions, Q(pk__in=changes.ratings) | Q(rater__in=changes.raters))
    rows = np.flatnonzero(~outdated)
    ids = np.concatenate([kept.ids[rows], new.ids])
    order = np.argsort(ids, kind="stable")  # fast on what is in order but for its end
    return RatingRows(
        ids=ids[order],
        summaries=np.concatenate([kept.summaries[rows], new.summaries])[order],
        raters=np.concatenate([kept.raters[rows], new.raters])[order],
        answers=np.concatenate([kept.answers[:, rows], new.answers], axis=1)[:, order],
    )


def latest_rating_at(project: Project) -> datetime | None:
    """Return when the last rating that counts was finished, or None."""
    of_rater = Rating.objects.countable().filter(rater=OuterRef("pk")).order_by("-completed_at")
    latest = Subquery(of_rater.values("completed_at")[:1])
    moments = Rater.objects.filter(project=project).annotate(latest=latest).values_list("latest", flat=True)
    return max((moment for moment in moments if moment is not None), default=None)


def question_ratings(
    rows: RatingRows, questions: Sequence[protocol.Question], summary_ids: Ints, rater_ids: Ints
) -> tuple[QuestionRatings, ...]:
    """Return the ratings of each question.

    Summaries and raters become places among the ascending `summary_ids` and `rater_ids`.
    """
    summaries = places_of(rows.summaries, summary_ids)
    raters = places_of(rows.raters, rater_ids)
    found = []
    for question, column in zip(questions, rows.answers, strict=True):
        asked = np.flatnonzero(~np.isnan(column))
        values, answers = answer_codes(question.scale, column[asked])
        found.append(
            QuestionRatings(
                question=question,
                values=values,
                summaries=read_only(summaries[asked]),
                raters=read_only(raters[asked]),
                answers=answers,
            )
        )
    return tuple(found)
