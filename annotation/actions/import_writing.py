"""Storing what an import has settled, in the import's transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from annotation.actions.gold_set import AgreedAnswer, set_gold_answers
from annotation.actions.import_ledger import Ledger
from annotation.actions.import_rows import insert_rows, refresh_statistics, stored_moment
from annotation.actions.import_settled import ScoreKeeper, Settled
from annotation.actions.import_states import (
    ArticleState,
    RaterState,
    SummaryKey,
    SummaryState,
    SystemState,
)
from annotation.actions.places import recount_places, shuffle_key, wanted_ratings
from annotation.importers.records import SummaryRecord
from annotation.models import Answer, Article, Project, Question, Rater, Rating, Summary, System


class Writer:
    """Stores settled entries, portion by portion; `finish` does what needs all of them."""

    def __init__(
        self,
        project: Project,
        ledger: Ledger,
        countable: Mapping[SummaryKey, int],
        scores: ScoreKeeper | None,
        now: datetime,
    ) -> None:
        """`countable` is how many ratings that count each new summary has in the file."""
        self._project = project
        self._ledger = ledger
        self._countable = countable
        self._scores = scores
        self._now = now
        self._questions = dict(
            Question.objects.filter(questionnaire=project.questionnaire_id).values_list("key", "pk")
        )
        self._languages = {name: frozenset(rater.languages) for name, rater in ledger.raters.items()}
        self._rated: set[int] = set()

    def write(self, settled: Sequence[Settled]) -> None:
        self._write_articles(settled)
        self._write_systems(settled)
        self._write_summaries(settled)
        self._write_raters(settled)
        self._write_ratings(settled)
        self._write_gold(settled)
        scores = [
            (record, self._summary_id((record.article_id, record.system)))
            for each in settled
            for record in each.scores
        ]
        if scores and self._scores is not None:
            self._scores.keep(scores)

    def finish(self) -> None:
        for name, rater in self._ledger.raters.items():
            if rater.languages != self._languages.get(name, frozenset()):
                Rater.objects.filter(pk=_stored(rater)).update(languages=sorted(rater.languages))
        recount_places(self._rated)
        refresh_statistics([Article, Summary, Rater, Rating, Answer])

    def _write_articles(self, settled: Sequence[Settled]) -> None:
        new: dict[str, tuple[ArticleState, str]] = {}
        for each in settled:
            if each.article is not None and each.article.pk is None and each.entry.article is not None:
                new.setdefault(each.article.external_id, (each.article, each.entry.article.text))
        project = self._project.pk
        insert_rows(
            Article,
            ("project", "external_id", "language", "dataset", "split", "title", "text"),
            (
                (project, name, state.language, state.dataset, state.split, state.title, text)
                for name, (state, text) in new.items()
            ),
        )
        rows = Article.objects.filter(project=project, external_id__in=new)
        for pk, name in rows.values_list("pk", "external_id") if new else ():
            new[name][0].pk = pk
        by_field: dict[str, list[Article]] = {}
        for each in settled:
            for name, value in each.filled.items():
                if each.article is not None:
                    by_field.setdefault(name, []).append(Article(pk=each.article.pk, **{name: value}))
        for name, articles in by_field.items():
            Article.objects.bulk_update(articles, [name])

    def _write_systems(self, settled: Sequence[Settled]) -> None:
        named = {system for each in settled for _, system in each.summaries}
        new = [
            name for name in self._ledger.systems if name in named and self._ledger.systems[name].pk is None
        ]
        stored = System.objects.bulk_create(
            System(project=self._project, name=name, is_reference=self._ledger.systems[name].is_reference)
            for name in new
        )
        for system in stored:
            self._ledger.systems[system.name].pk = system.pk

    def _write_summaries(self, settled: Sequence[Settled]) -> None:
        new: dict[SummaryKey, tuple[SummaryRecord, SummaryState]] = {}
        for each in settled:
            for key, (record, state) in each.summaries.items():
                if state.pk is None:
                    new.setdefault(key, (record, state))
        if not new:
            return
        states = {
            (_stored(self._ledger.articles[article]), _stored(self._ledger.systems[system])): state
            for (article, system), (_, state) in new.items()
        }
        insert_rows(
            Summary,
            ("article", "system", "project", "text", "ratings_wanted", "open_places", "shuffle_key"),
            (
                (*ids, self._project.pk, record.text, *self._places(key, record))
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
        """How many ratings the summary wants, how many are open, and its place in the raters' order."""
        wanted = wanted_ratings(self._project, *key) if record.to_be_rated else 0
        return wanted, max(0, wanted - self._countable.get(key, 0)), shuffle_key(self._project, *key)

    def _write_raters(self, settled: Sequence[Settled]) -> None:
        named = {record.rater for each in settled for record, _ in each.ratings}
        new = [name for name in self._ledger.raters if name in named and self._ledger.raters[name].pk is None]
        stored = Rater.objects.bulk_create(
            Rater(
                project=self._project,
                pseudonym=name,
                group=self._ledger.raters[name].group,
                status=Rater.Status.QUALIFIED,
            )
            for name in new
        )
        for rater in stored:
            self._ledger.raters[rater.pseudonym].pk = rater.pk

    def _write_ratings(self, settled: Sequence[Settled]) -> None:
        new = [pair for each in settled for pair in each.ratings]
        if not new:
            return
        moments = [stored_moment(record.rated_at or self._now) for record, _ in new]
        places = [
            (self._summary_id((record.article_id, record.system)), _stored(self._ledger.raters[record.rater]))
            for record, _ in new
        ]
        insert_rows(
            Rating,
            ("summary", "rater", "created_at", "completed_at"),
            ((*place, moment, moment) for place, moment in zip(places, moments, strict=True)),
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
            ("rating", "question", "value", "comment", "created_at"),
            (
                (ids[place], self._questions[key], value, dict(sheet.comments).get(key, ""), moment)
                for place, moment, (_, sheet) in zip(places, moments, new, strict=True)
                for key, value in sheet.values
            ),
        )
        for (summary, _), (record, _) in zip(places, new, strict=True):
            if self._ledger.summaries[record.article_id, record.system].stored_before:
                self._rated.add(summary)

    def _write_gold(self, settled: Sequence[Settled]) -> None:
        for record, sheet in (pair for each in settled for pair in each.gold):
            explanations = dict(sheet.comments)
            summary = Summary(pk=self._summary_id((record.article_id, record.system)))
            set_gold_answers(
                summary, {key: AgreedAnswer(value, explanations[key]) for key, value in sheet.values}
            )

    def _summary_id(self, key: SummaryKey) -> int:
        return _stored(self._ledger.summaries[key])


def _stored(state: ArticleState | SummaryState | SystemState | RaterState) -> int:
    """Its id: what is referred to is stored before what refers to it."""
    assert state.pk is not None, state
    return state.pk
