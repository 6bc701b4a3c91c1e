"""What counts in a project at one revision, read from the database: the one place where rows become arrays.

A revision changes with everything that counts, so a snapshot is kept as long as its revision is current.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from threading import Lock

import numpy as np
from django.db import connection
from django.db.models import Max

from annotation import protocol
from annotation.consistent_read import consistent_read
from annotation.labels import answered
from annotation.models import Article, Project, Question, Rater, Rating, Summary, System
from metaeval.judgements import (
    Evaluator,
    HumanRatings,
    Labels,
    QuestionRatings,
    Scores,
    Summaries,
    answer_codes,
    codes,
    mean_labels,
    read_only,
)
from metaeval.stats.arrays import Ints
from scoring.models import EvaluatorSetup, Score, SeenArticle

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
    without_scores: tuple[str, ...]
    """Labels of the others."""

    def labels(self, group: str = "") -> tuple[Labels, ...]:
        """The human labels of each question; of the raters of `group` alone if it is given."""
        return tuple(
            mean_labels(self.human, ratings, len(self.summaries), group) for ratings in self.human.questions
        )


def snapshot_of(project: Project) -> Snapshot:
    """The project as it is now."""
    if connection.in_atomic_block:
        return _read(project)  # it may show what is rolled back in the end, so it must not be kept
    with _lock:  # also while reading: whoever else asks for the same revision had better wait for it
        kept = _kept.pop(project.pk, None)
        if kept is None or kept.revision != _revision(project):
            with consistent_read():
                kept = _read(project)
        _kept[project.pk] = kept  # as the latest used
        while len(_kept) > KEPT_PROJECTS:
            del _kept[next(iter(_kept))]
    return kept


_kept: dict[int, Snapshot] = {}
_lock = Lock()


def _revision(project: Project) -> int:
    return Project.objects.values_list("revision", flat=True).get(pk=project.pk)


def _read(project: Project) -> Snapshot:
    revision = _revision(project)
    raters = list(Rater.objects.filter(project=project).order_by("pk").values_list("pk", "group"))
    questions = list(Question.objects.filter(questionnaire=project.questionnaire_id))
    answers = [
        list(answered(project, question).values_list("summary_id", "rater_id", "answers__value"))
        for question in questions
    ]
    rated = np.unique(np.concatenate([_column(rows, 0) for rows in answers]))
    summary_ids, article_ids, summaries = _read_summaries(project, rated)
    rater_ids = [rater_id for rater_id, _ in raters]
    evaluators, without_scores = _read_evaluators(project, summary_ids, article_ids)
    counted = Rating.objects.countable().filter(summary__project=project)
    return Snapshot(
        revision=revision,
        n_ratings=counted.count(),
        latest_rating_at=counted.aggregate(latest=Max("completed_at"))["latest"],
        summary_ids=summary_ids,
        summaries=summaries,
        human=HumanRatings(
            questions=tuple(
                _question_ratings(question.protocol, rows, summary_ids, rater_ids)
                for question, rows in zip(questions, answers, strict=True)
            ),
            rater_groups=tuple(group for _, group in raters),
            described="finished ratings by raters in good standing, each answer in its latest revision",
        ),
        evaluators=evaluators,
        without_scores=without_scores,
    )


def _read_summaries(project: Project, rated: Ints) -> tuple[Ints, list[int], Summaries]:
    """Primary keys of summaries, those of articles by code, and what the statistics need of them."""
    rows = list(Summary.objects.filter(project=project).order_by("pk").values_list("pk", "article", "system"))
    rateable = Summary.objects.filter(project=project).rateable().values_list("pk", flat=True)
    wanted = np.union1d(rated, np.array(list(rateable), dtype=np.int64))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    table = table[np.isin(table[:, 0], wanted)]
    languages = dict(Article.objects.filter(project=project).values_list("pk", "language"))
    systems = list(System.objects.filter(project=project).order_by("name").values_list("pk", "name"))
    system_ids = np.array([pk for pk, _ in systems], dtype=np.int64)
    used = np.isin(system_ids, table[:, 2])
    article_ids, article_codes = np.unique(table[:, 1], return_inverse=True)
    names = sorted({languages[pk] for pk in article_ids.tolist()})
    language_of_article = codes([languages[pk] for pk in article_ids.tolist()], names)
    return (
        read_only(table[:, 0].copy()),
        article_ids.tolist(),
        Summaries(
            articles=read_only(article_codes.astype(np.int64)),
            systems=codes(table[:, 2].tolist(), system_ids[used].tolist()),
            languages=read_only(language_of_article[article_codes]),
            system_names=tuple(name for (_, name), kept in zip(systems, used, strict=True) if kept),
            language_names=tuple(names),
        ),
    )


def _question_ratings(
    question: protocol.Question,
    rows: Sequence[tuple[int, int, str]],
    summary_ids: Ints,
    rater_ids: Sequence[int],
) -> QuestionRatings:
    values, answers = answer_codes(question.scale, [value for _, _, value in rows])
    return QuestionRatings(
        question=question,
        values=values,
        summaries=read_only(np.searchsorted(summary_ids, _column(rows, 0))),
        raters=codes([rater_id for _, rater_id, _ in rows], rater_ids),
        answers=answers,
    )


def _read_evaluators(
    project: Project, summary_ids: Ints, article_ids: Sequence[int]
) -> tuple[tuple[Evaluator, ...], tuple[str, ...]]:
    setups = list(
        EvaluatorSetup.objects.filter(project=project).values_list("pk", "label", "signature", "fingerprint")
    )
    article_codes = {pk: code for code, pk in enumerate(article_ids)}
    seen: dict[int, set[int]] = {}
    for setup_id, article_id in SeenArticle.objects.filter(setup__project=project).values_list(
        "setup_id", "article_id"
    ):
        if article_id in article_codes:
            seen.setdefault(setup_id, set()).add(article_codes[article_id])
    scores: dict[int, dict[str, Scores]] = {}
    rows = (
        Score.objects.filter(setup__project=project)
        .order_by("setup_id", "dimension")
        .values_list("setup_id", "dimension", "summary_id", "value", "reason")
    )
    for (setup_id, dimension), column in groupby(rows.iterator(chunk_size=10_000), itemgetter(0, 1)):
        scores.setdefault(setup_id, {})[dimension] = _scores(column, summary_ids)
    evaluators = tuple(
        Evaluator(
            key=str(pk),
            label=label,
            signature=signature,
            fingerprint=fingerprint,
            seen=frozenset(seen.get(pk, ())),
            scores=scores[pk],
        )
        for pk, label, signature, fingerprint in setups
        if pk in scores
    )
    return evaluators, tuple(label for pk, label, _, _ in setups if pk not in scores)


def _scores(rows: Iterable[tuple[int, str, int, float | None, str]], summary_ids: Ints) -> Scores:
    _, _, summaries, values, reasons = zip(*rows, strict=True)
    given = np.array(summaries, dtype=np.int64)
    places = np.minimum(np.searchsorted(summary_ids, given), max(len(summary_ids) - 1, 0))
    counted = summary_ids[places] == given if len(summary_ids) else np.zeros(len(given), dtype=bool)
    found = np.full(len(summary_ids), np.nan)
    found[places[counted]] = np.array(values, dtype=np.float64)[counted]
    names = sorted({reason for reason in reasons if reason})
    why = np.full(len(summary_ids), -1, dtype=np.int64)
    why[places[counted]] = codes(reasons, ["", *names])[counted] - 1
    return Scores(read_only(found), tuple(names), read_only(why))


def _column(rows: Sequence[tuple[int, int, str]], place: int) -> Ints:
    return np.array([row[place] for row in rows], dtype=np.int64)
