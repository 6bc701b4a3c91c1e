"""What always holds of a project's ratings, computed without the rules that keep it so."""

import json
from collections import Counter
from collections.abc import Iterator

from annotation.exports.exporter import open_export
from annotation.models import Answer, Assignment, Project, Rater, Rating, Summary
from annotation.protocol import is_complete
from metaeval.snapshot.snapshot import Snapshot

Row = tuple[object, ...]
COLUMNS = ("article_id", "system", "rater", "question", "value")


def different(one: Counter[Row], other: Counter[Row]) -> list[Row]:
    """Return the rows that one has more often than the other."""
    return [*(one - other), *(other - one)]


class RatingInvariants:
    """Invariants of one project, checked after each of its changes."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._answers = 0
        self._finished: set[int] = set()

    def broken(self) -> list[str]:
        """Return a sentence for each invariant that does not hold."""
        return [*self._rated_twice(), *self._wrong_places(), *self._deleted(), *self._taken_back()]

    def _rated_twice(self) -> Iterator[str]:
        """Yield who has or gets a summary twice, gold rounds apart."""
        ratings = Rating.objects.filter(rater__project=self._project, round__isnull=True)
        held = Assignment.objects.filter(rater__project=self._project, round__isnull=True)
        pairs = Counter(ratings.filter(completed_at__isnull=False).values_list("rater", "summary"))
        pairs += Counter(held.filter(state=Assignment.State.OPEN).values_list("rater", "summary"))
        yield from (f"rater {pair[0]} gets summary {pair[1]} twice" for pair, n in pairs.items() if n > 1)

    def _wrong_places(self) -> Iterator[str]:
        """Yield the summaries that do not wait for all ratings that they want and neither have nor expect."""
        taken = Counter(rating.summary_id for rating in self._counted())
        held = Assignment.objects.filter(rater__project=self._project, round__isnull=True)
        taken += Counter(held.filter(state=Assignment.State.OPEN).values_list("summary", flat=True))
        for each in Summary.objects.filter(project=self._project):
            left = 0 if each.withdrawn_at else max(0, each.ratings_wanted - taken[each.pk])
            if each.open_places != left:
                yield f"summary {each.pk} has {each.open_places} open places, not {left}"

    def _deleted(self) -> Iterator[str]:
        answers = Answer.objects.filter(rating__summary__project=self._project).count()
        if answers < self._answers:
            yield f"{self._answers - answers} answers were deleted"
        self._answers = answers

    def _taken_back(self) -> Iterator[str]:
        """Yield the ratings that were finished and are not, or lack an answer that their sheet needs."""
        questionnaire = self._project.questionnaire.protocol
        ratings = Rating.objects.filter(summary__project=self._project, completed_at__isnull=False)
        sheets: dict[int, dict[str, str]] = {pk: {} for pk in ratings.values_list("pk", flat=True)}
        yield from (f"rating {pk} is no longer finished" for pk in self._finished - sheets.keys())
        self._finished = set(sheets)
        answers = Answer.objects.filter(rating__in=sheets, is_current=True)
        for pk, key, value in answers.values_list("rating", "question__key", "value"):
            sheets[pk][key] = value
        incomplete = [pk for pk, sheet in sheets.items() if not is_complete(questionnaire, sheet)]
        yield from (f"rating {pk} is incomplete" for pk in incomplete)

    def wrongly_counted(self, shown: Snapshot) -> list[str]:
        """Return what results or exports have too much or lack of the answers that count."""
        answers = Answer.objects.filter(rating__in=self._counted(), is_current=True)
        named = "summary__article__external_id", "summary__system__name", "rater__pseudonym"
        rows = answers.values_list(*(f"rating__{name}" for name in named), "question__key", "value")
        given = Counter(answers.values_list("rating__summary", "question__key"))
        content = b"".join(open_export(self._project, "ratings", {"file_type": "jsonl"}).chunks())
        lines = [json.loads(line) for line in content.decode().splitlines()]
        exported = Counter(tuple(map(row.get, COLUMNS)) for row in lines if row["is_current"])
        in_results = Counter(
            (int(shown.summary_ids[summary]), each.question.key)
            for each in shown.human.questions
            for summary in each.summaries
        )
        return [
            *(f"exports differ in {row}" for row in different(exported, Counter(rows))),
            *(f"results differ in {row}" for row in different(in_results, given)),
        ]

    def _counted(self) -> list[Rating]:
        ratings = Rating.objects.filter(summary__project=self._project).select_related("rater")
        return [
            each
            for each in ratings
            if each.completed_at and not each.voided_at and not each.round_id and not each.is_check
            if each.rater.status != Rater.Status.REMOVED
        ]
