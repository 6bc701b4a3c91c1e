"""Rows of the database as columns: summaries, ratings with their answers, and adjudicated decisions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import OuterRef, Q, Subquery

from annotation import protocol
from annotation.adjudication.decisions import settled_answers
from annotation.labels import answered
from annotation.models import Article, Assignment, Project, Question, Rater, Rating, Summary, System
from annotation.open_places import SHUFFLE_KEYS
from metaeval.models import Priority
from metaeval.snapshot.arrays import (
    Decisions,
    QuestionRatings,
    Summaries,
    answer_codes,
    answers_as_numbers,
    codes,
    read_only,
)
from metaeval.snapshot.changes import Changes
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.labels.draw_chances import draw_chances


def columns(rows: Iterable[tuple[Any, ...]], width: int) -> list[tuple[Any, ...]]:
    """Return the `width` columns of rows, also if there are no rows."""
    return list(zip(*rows, strict=True)) or [()] * width


def whole_numbers(values: Iterable[int]) -> Ints:
    return np.array(tuple(values), dtype=np.int64)


def places_of(values: Ints, among: Ints) -> Ints:
    """Return the place of each value in the ascending `among`, (values,); -1 if absent."""
    if not len(among):
        return np.full(len(values), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(among, values), len(among) - 1)
    return np.where(among[places] == values, places, -1)


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


@dataclass(frozen=True, eq=False)
class SummaryRows:
    """Summaries to rate or already rated, without gold summaries and bare references."""

    ids: Ints
    """(summaries,) primary keys, ascending."""
    is_rateable: Bools
    """(summaries,) whether people are to rate it; the others were rated before."""
    article_ids: Ints
    """(articles,) primary keys of articles by code, ascending."""
    summaries: Summaries

    def are_still_those(self, rated: Ints) -> bool:
        """Return whether ratings of these summaries (primary keys) leave the set unchanged."""
        places = places_of(rated, self.ids)
        if (places < 0).any():
            return False
        belongs = self.is_rateable.copy()
        belongs[places] = True
        return bool(belongs.all())


def read_summaries(project: Project, rated: Ints) -> SummaryRows:
    """Return the project's summaries that are to be rated or are `rated` (primary keys)."""
    of_project = Summary.objects.filter(project=project)
    ids, articles, systems = map(
        whole_numbers, columns(of_project.order_by("pk").values_list("pk", "article", "system"), 3)
    )
    is_rateable = np.isin(ids, whole_numbers(of_project.rateable().values_list("pk", flat=True)))
    belongs = is_rateable | np.isin(ids, rated)
    article_ids, article_codes = np.unique(articles[belongs], return_inverse=True)
    return SummaryRows(
        ids=read_only(ids[belongs]),
        is_rateable=is_rateable[belongs],
        article_ids=article_ids,
        summaries=_summaries(project, article_ids, article_codes.astype(np.int64), systems[belongs]),
    )


def _summaries(project: Project, article_ids: Ints, article_codes: Ints, systems: Ints) -> Summaries:
    articles = {
        pk: (language, dataset)
        for pk, language, dataset in Article.objects.filter(project=project).values_list(
            "pk", "language", "dataset"
        )
    }
    named = list(System.objects.filter(project=project).order_by("name").values_list("pk", "name"))
    used = set(np.unique(systems).tolist())
    named = [(pk, name) for pk, name in named if pk in used]
    of_article = [articles[pk] for pk in article_ids.tolist()]
    languages = sorted({language for language, _ in of_article})
    datasets = sorted({dataset for _, dataset in of_article if dataset})
    language_of_article = codes([language for language, _ in of_article], languages)
    dataset_of_article = codes([dataset for _, dataset in of_article], ["", *datasets]) - 1
    return Summaries(
        articles=read_only(article_codes),
        systems=codes(systems.tolist(), [pk for pk, _ in named]),
        languages=read_only(language_of_article[article_codes]),
        datasets=read_only(dataset_of_article[article_codes]),
        system_names=tuple(name for _, name in named),
        language_names=tuple(languages),
        dataset_names=tuple(datasets),
    )


def read_draw_chances(project: Project, rows: SummaryRows) -> Floats | None:
    """Return `draw_chances` of the summaries, (summaries,), by language; None unless some come earlier.

    Summaries that were imported with all their ratings were never drawn, and have a chance of 1. Once every
    summary was drawn, the order no longer matters.
    """
    if not Priority.objects.filter(project=project).exists():
        return None
    of_project = Summary.objects.filter(project=project)
    drawn = Assignment.objects.filter(summary__project=project, round__isnull=True)
    ids, keys, weights = columns(of_project.order_by("pk").values_list("pk", "shuffle_key", "draw_weight"), 3)
    belongs = np.isin(whole_numbers(ids), rows.ids)
    was_drawn = np.isin(rows.ids, whole_numbers(drawn.values_list("summary", flat=True).distinct()))
    has_places = of_project.filter(open_places__gt=0).exclude(article__text="").values_list("pk", flat=True)
    is_waiting = np.isin(rows.ids, whole_numbers(has_places)) & ~was_drawn
    if not is_waiting.any():
        return None
    places, weight = np.array(keys)[belongs] / SHUFFLE_KEYS, np.array(weights)[belongs]
    chances = np.ones(len(rows.ids))
    languages = rows.summaries.languages
    for language in np.unique(languages):
        own = (languages == language) & (was_drawn | is_waiting)
        chances[own] = draw_chances(places[own], weight[own], is_waiting[own])
    return read_only(chances)


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
