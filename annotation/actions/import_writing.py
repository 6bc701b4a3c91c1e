"""Storing what an import has settled, in the import's transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from annotation.actions.gold_set import AgreedAnswer, set_gold_answers
from annotation.actions.import_ledger import Ledger, ScoreKeeper, Settled
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

    def _write_articles(self, settled: Sequence[Settled]) -> None:
        new: dict[str, tuple[ArticleState, str]] = {}
        for each in settled:
            if each.article is not None and each.article.pk is None and each.entry.article is not None:
                new.setdefault(each.article.external_id, (each.article, each.entry.article.text))
        stored = Article.objects.bulk_create(
            Article(
                project=self._project,
                external_id=state.external_id,
                language=state.language,
                dataset=state.dataset,
                split=state.split,
                title=state.title,
                text=text,
            )
            for state, text in new.values()
        )
        for article, (state, _) in zip(stored, new.values(), strict=True):
            state.pk = article.pk
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
        stored = Summary.objects.bulk_create(
            self._new_summary(key, record) for key, (record, _) in new.items()
        )
        for summary, (_, state) in zip(stored, new.values(), strict=True):
            state.pk = summary.pk

    def _new_summary(self, key: SummaryKey, record: SummaryRecord) -> Summary:
        wanted = wanted_ratings(self._project, *key) if record.to_be_rated else 0
        return Summary(
            project=self._project,
            article_id=_stored(self._ledger.articles[key[0]]),
            system_id=_stored(self._ledger.systems[key[1]]),
            text=record.text or "",
            ratings_wanted=wanted,
            open_places=max(0, wanted - self._countable.get(key, 0)),
            shuffle_key=shuffle_key(self._project, *key),
        )

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
        ratings = Rating.objects.bulk_create(
            Rating(
                summary_id=self._summary_id((record.article_id, record.system)),
                rater_id=_stored(self._ledger.raters[record.rater]),
                created_at=record.rated_at or self._now,
                completed_at=record.rated_at or self._now,
            )
            for record, _ in new
        )
        Answer.objects.bulk_create(
            Answer(
                rating_id=rating.pk,
                question_id=self._questions[key],
                value=value,
                comment=dict(sheet.comments).get(key, "") if sheet.comments else "",
                created_at=rating.created_at,
            )
            for rating, (_, sheet) in zip(ratings, new, strict=True)
            for key, value in sheet.values
        )
        for rating, (record, _) in zip(ratings, new, strict=True):
            if self._ledger.summaries[record.article_id, record.system].stored_before:
                self._rated.add(rating.summary_id)

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
