"""Drawing the summaries earlier that evaluators are unsure about, with known chances."""

from collections.abc import Iterator, Sequence

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError
from annotation.models import Project, Summary
from annotation.open_places import SHUFFLE_KEYS, draw_by_weight
from annotation.permissions import Permission, Person, require
from metaeval.models import Priority
from metaeval.snapshot.arrays import SetupScores
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.arrays import Floats
from metaeval.stats.labels.draw_chances import draw_weights

CHANCE_COLUMNS = ("article_id", "system", "language", "weight", "place", "chance")


def evaluators_with_scores(project: Project) -> list[SetupScores]:
    """Return the evaluators that have a score on some summary, by label."""
    return [each for each in snapshot_of(project).evaluators if each.has_scores]


def set_priority(project: Project, person: Person, question_key: str, evaluators: Sequence[str]) -> Priority:
    """Draw summaries with weights that grow with the evaluators' doubt about the question.

    `evaluators` are keys: of one, whose scores are chances of yes, or of several, whose disagreement is the
    doubt. Summaries that are imported later have a weight of 1.

    Raises NotAllowed or NotFound unless `person` may manage the project, and DomainError for evaluators that
    do not serve, once the first summary was given out, and where no rater gets two summaries of an article.
    """
    require(person, project, Permission.MANAGE_PROJECT)
    question = project.questionnaire.questions.filter(key=question_key).first()
    if question is None:
        raise DomainError("question: this project has no such question")
    snapshot = snapshot_of(project)
    chosen = [each for each in snapshot.evaluators if each.key in evaluators]
    if not chosen or len(chosen) != len(set(evaluators)):
        raise DomainError("evaluators: choose at least one of those that have scores")
    try:
        weights = draw_weights(
            [_scores(each, question.dimension, len(snapshot.summaries)) for each in chosen]
        )
    except ValueError as error:
        raise DomainError(f"evaluators: {error}. Choose another one, or several.") from error
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        if locked.articles_once:
            raise DomainError(
                "Each article is given once to a rater, so summaries wait for other raters and their chances"
                " are not known. Change that setting first."
            )
        draw_by_weight(project, dict(zip(snapshot.summary_ids.tolist(), weights.tolist(), strict=True)))
        priority, _ = Priority.objects.update_or_create(
            project=project,
            defaults={
                "question_key": question_key,
                "evaluators": [each.label for each in chosen],
                "set_at": timezone.now(),
                "set_by_id": person.pk,
            },
        )
        record(Action.PRIORITY_SET, project, priority)
        locked.bump_revision()
    return priority


def remove_priority(project: Project, person: Person) -> None:
    """Draw all summaries with equal chances again. Nothing happens if they already are.

    Raises NotAllowed or NotFound as `set_priority`, and DomainError once the first summary was given out.
    """
    require(person, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        found = Priority.objects.filter(project=project).first()
        if found is None:
            return
        weighted = Summary.objects.filter(project=project).exclude(draw_weight=1)
        draw_by_weight(project, dict.fromkeys(weighted.values_list("pk", flat=True), 1.0))
        record(Action.PRIORITY_REMOVED, project, found)
        found.delete()
        locked.bump_revision()


def chance_rows(project: Project) -> Iterator[tuple[object, ...]]:
    """Yield CHANCE_COLUMNS, then each summary's, in order of rating.

    Places are from 0 to 1. The chance is that of having been drawn by now; empty for those that come later.
    """
    snapshot = snapshot_of(project)
    chances = np.ones(len(snapshot.summaries)) if snapshot.draw_chances is None else snapshot.draw_chances
    by_id = dict(zip(snapshot.summary_ids.tolist(), chances.tolist(), strict=True))
    yield CHANCE_COLUMNS
    rows = Summary.objects.rateable().filter(project=project).order_by("shuffle_key", "pk")
    for pk, article, system, language, weight, key in rows.values_list(
        "pk", "article__external_id", "system__name", "article__language", "draw_weight", "shuffle_key"
    ).iterator():
        chance = by_id.get(pk, np.nan)
        yield article, system, language, weight, key / SHUFFLE_KEYS, "" if np.isnan(chance) else chance


def _scores(evaluator: SetupScores, dimension: str, n: int) -> Floats:
    """Return the evaluator's scores, higher for better summaries, (n,)."""
    found = evaluator.on(dimension)
    if found is None:
        return np.full(n, np.nan)
    return found.values if evaluator.higher_is_better else -found.values
