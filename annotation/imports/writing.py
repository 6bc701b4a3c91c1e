"""Storing checked entries, in the transaction of the import."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection

from annotation.database.bulk_insert import insert_rows, refresh_statistics, stored_moment
from annotation.gold.gold_set import AgreedAnswer, store_gold_answers
from annotation.imports.checked_entry import CheckedEntry, ScoreKeeper
from annotation.imports.checking import Checker
from annotation.imports.known_rows import ArticleState, Known, Sheet, SummaryState
from annotation.imports.reading.records import RatingDetails, RatingRecord, SummaryKey, SummaryRecord
from annotation.models import (
    Answer,
    Article,
    GoldRating,
    ImportJob,
    Project,
    Question,
    Rater,
    Rating,
    Summary,
    System,
)
from annotation.open_places import recount_places, shuffle_key, wanted_ratings
from annotation.texts.text_digests import text_digest

State = TypeVar("State", bound=Known)


class Writer:
    """Stores checked entries in portions. `finish` completes the import."""

    def __init__(
        self,
        project: Project,
        checker: Checker,
        countable: Mapping[SummaryKey, int],
        scores: ScoreKeeper | None,
        now: datetime,
        job: ImportJob | None,
    ) -> None:
        """Prepare to store. `countable` maps new summaries to how many of their ratings count.

        The new rows name `job`.
        """
        self._project = project
        self._checker = checker
        self._countable = countable
        self._scores = scores
        self._now = now
        self._job = job.pk if job else None
        self._questions = dict(
            Question.objects.filter(questionnaire=project.questionnaire_id).values_list("key", "pk")
        )
        self._languages = {name: frozenset(rater.languages) for name, rater in checker.raters.items()}
        self._rated: set[int] = set()

    def write(self, checked: Sequence[CheckedEntry]) -> None:
        self._write_articles(checked)
        self._write_systems(checked)
        self._write_summaries(checked)
        self._write_raters(checked)
        self._write_ratings(checked)
        self._write_gold(checked)
        scores = [
            (record, self._checker.summaries[record.key].stored_pk)
            for each in checked
            for record in each.scores
        ]
        if scores and self._scores is not None:
            self._scores.keep(scores)

    def finish(self) -> None:
        for name, rater in self._checker.raters.items():
            if rater.languages != self._languages.get(name, frozenset()):
                Rater.objects.filter(pk=rater.stored_pk).update(languages=sorted(rater.languages))
        recount_places(self._rated)
        if self._scores is not None:
            self._scores.finish()
        refresh_statistics([Article, Summary, Rater, Rating, Answer])

    def _write_articles(self, checked: Sequence[CheckedEntry]) -> None:
        new: dict[str, tuple[ArticleState, str]] = {}
        for each in checked:
            if each.article is not None and each.article.pk is None and each.entry.article is not None:
                new.setdefault(each.article.external_id, (each.article, each.entry.article.text))
        project = self._project.pk
        insert_rows(
            Article,
            (
                "project",
                "external_id",
                "language",
                "dataset",
                "split",
                "title",
                "text",
                "text_digest",
                "import_job",
            ),
            (
                (
                    project,
                    name,
                    state.language,
                    state.dataset,
                    state.split,
                    state.title,
                    text,
                    text_digest(text),
                    self._job,
                )
                for name, (state, text) in new.items()
            ),
        )
        rows = Article.objects.filter(project=project, external_id__in=new)
        for pk, name in rows.values_list("pk", "external_id") if new else ():
            new[name][0].pk = pk
        by_field: dict[str, list[Article]] = {}
        for each in checked:
            for name, value in each.filled.items():
                if each.article is not None:
                    by_field.setdefault(name, []).append(Article(pk=each.article.pk, **{name: value}))
        for article in by_field.get("text", ()):
            article.text_digest = text_digest(article.text)
        for name, articles in by_field.items():
            Article.objects.bulk_update(articles, [name, "text_digest"] if name == "text" else [name])

    def _write_systems(self, checked: Sequence[CheckedEntry]) -> None:
        named = {system for each in checked for _, system in each.summaries}
        for system in System.objects.bulk_create(
            System(
                project=self._project,
                name=name,
                is_reference=state.is_reference,
                import_job_id=self._job,
            )
            for name, state in _new(self._checker.systems, named)
        ):
            self._checker.systems[system.name].pk = system.pk

    def _write_summaries(self, checked: Sequence[CheckedEntry]) -> None:
        new: dict[SummaryKey, tuple[SummaryRecord, SummaryState]] = {}
        for each in checked:
            for key, (record, state) in each.summaries.items():
                if state.pk is None:
                    new.setdefault(key, (record, state))
        if not new:
            return
        states = {
            (self._checker.articles[article].stored_pk, self._checker.systems[system].stored_pk): state
            for (article, system), (_, state) in new.items()
        }
        insert_rows(
            Summary,
            (
                "article",
                "system",
                "project",
                "text",
                "ratings_wanted",
                "open_places",
                "shuffle_key",
                "import_job",
            ),
            (
                (*ids, self._project.pk, record.text, *self._places(key, record), self._job)
                for ids, (key, (record, _)) in zip(states, new.items(), strict=True)
            ),
        )
        rows = Summary.objects.filter(
            article__in={article for article, _ in states}, system__in={system for _, system in states}
        )
        for pk, article, system in rows.values_list("pk", "article", "system"):
            if (article, system) in states:
                states[article, system].pk = pk

    def _places(self, key: SummaryKey, record: SummaryRecord) -> tuple[int, int, int]:
        """Return the summary's wanted ratings, open places and shuffle key."""
        wanted = wanted_ratings(self._project, *key) if record.to_be_rated else 0
        return wanted, max(0, wanted - self._countable.get(key, 0)), shuffle_key(self._project, *key)

    def _write_raters(self, checked: Sequence[CheckedEntry]) -> None:
        named = {record.rater for each in checked for record, _ in each.ratings}
        for rater in Rater.objects.bulk_create(
            Rater(
                project=self._project,
                pseudonym=name,
                group=state.group,
                status=state.status,
                status_before="" if state.status == Rater.Status.QUALIFIED else Rater.Status.QUALIFIED,
                import_job_id=self._job,
            )
            for name, state in _new(self._checker.raters, named)
        ):
            self._checker.raters[rater.pseudonym].pk = rater.pk

    def _write_ratings(self, checked: Sequence[CheckedEntry]) -> None:
        new = [pair for each in checked for pair in each.ratings]
        if not new:
            return
        moments = [stored_moment(record.rated_at or self._now) for record, _ in new]
        places = [
            (self._checker.summaries[record.key].stored_pk, self._checker.raters[record.rater].stored_pk)
            for record, _ in new
        ]
        insert_rows(
            Rating,
            ("summary", "rater", "created_at", "completed_at", "stage_times", "import_job"),
            (
                (*place, *_times(record.details, moment), self._job)
                for place, moment, (record, _) in zip(places, moments, new, strict=True)
            ),
        )
        ids = {
            (summary, rater): pk
            for pk, summary, rater in Rating.objects.filter(
                summary__in={summary for summary, _ in places},
                rater__in={rater for _, rater in places},
                round__isnull=True,
            ).values_list("pk", "summary", "rater")
        }
        insert_rows(
            Answer,
            (
                "rating",
                "question",
                "value",
                "comment",
                "revision",
                "is_current",
                "after_reveal",
                "created_at",
            ),
            (
                (ids[place], self._questions[key], *answer)
                for place, moment, (record, sheet) in zip(places, moments, new, strict=True)
                for key, *answer in _revisions(record, sheet, moment)
            ),
        )
        for (summary, _), (record, _) in zip(places, new, strict=True):
            if self._checker.summaries[record.key].stored_before:
                self._rated.add(summary)

    def _write_gold(self, checked: Sequence[CheckedEntry]) -> None:
        new, retired = [], []
        for record, sheet in (pair for each in checked for pair in each.gold):
            explanations = dict(sheet.comments)
            summary = Summary(pk=self._checker.summaries[record.key].stored_pk)
            gold = store_gold_answers(
                summary, {key: AgreedAnswer(value, explanations[key]) for key, value in sheet.values}
            )
            new.append(gold.pk)
            if record.is_retired:
                retired.append(gold.pk)
        GoldRating.objects.filter(pk__in=new).update(import_job=self._job)
        GoldRating.objects.filter(pk__in=retired).update(retired_at=self._now)


def _new(states: Mapping[str, State], named: Collection[str]) -> list[tuple[str, State]]:
    """Return the named states that are not stored yet, in the order in which the file named them."""
    return [(name, state) for name, state in states.items() if name in named and state.pk is None]


def _revisions(record: RatingRecord, sheet: Sheet, moment: Any) -> Iterator[tuple[Any, ...]]:
    """Yield key, value, comment, revision, is_current, after_reveal and time of all answers.

    `moment` is the stored time of answers without one of their own.
    """
    comments = dict(sheet.comments)
    for key, answer in record.details.earlier if record.details else ():
        answered = _stored(answer.answered_at, moment)
        yield key, answer.value, answer.comment, answer.revision, False, answer.after_reveal, answered
    for key, value in sheet.values:
        comment = comments.get(key, "")
        found = record.answers.get(key)
        if found is None:  # the file names the question by its dimension
            yield key, value, comment, 1, True, False, moment
        else:
            answered = _stored(found.answered_at, moment)
            yield key, value, comment, found.revision, True, found.after_reveal, answered


def _times(details: RatingDetails | None, moment: Any) -> tuple[Any, Any, Any]:
    """Return the stored created_at, completed_at and stage_times of a rating completed at `moment`."""
    stages = sorted(details.stage_times.items()) if details else ()
    times = [
        {"stage": stage, "opened_at": opened.isoformat(), "submitted_at": submitted.isoformat()}
        for stage, (opened, submitted) in stages
    ]
    began = _stored(details.started_at if details else None, moment)
    return began, moment, Rating._meta.get_field("stage_times").get_db_prep_save(times, connection)


def _stored(moment: datetime | None, otherwise: Any) -> Any:
    return otherwise if moment is None else stored_moment(moment)
