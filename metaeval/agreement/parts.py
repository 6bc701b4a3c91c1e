"""Datasets or weeks in place of languages, by which agreement is told apart."""

from dataclasses import replace

import numpy as np
from django.db.models import Window
from django.db.models.functions import RowNumber
from django.utils.timezone import get_current_timezone, localtime

from annotation.models import Project, Rating
from annotation.templatetags.texts import language_name
from metaeval.agreement.method import BY_DATASET, BY_LANGUAGE, PARTS
from metaeval.snapshot.arrays import Summaries, codes, read_only
from metaeval.snapshot.database_rows import places_of, whole_numbers
from metaeval.snapshot.snapshot import PerSnapshot, Snapshot
from metaeval.stats.arrays import Ints
from metaeval.stats.check_choice import check_choice

SECOND_PER_WEEK = "A summary belongs to the week in which it got its second rating, with all its ratings."


def summaries_by(project: Project, snapshot: Snapshot, by: str) -> Summaries:
    """Return the summaries with one of PARTS in place of languages. Raises DomainError for another one."""
    check_choice("by", by, tuple(PARTS))
    summaries = snapshot.summaries
    if by == BY_LANGUAGE:
        return summaries
    if by == BY_DATASET:
        return replace(summaries, languages=summaries.datasets, language_names=summaries.dataset_names)
    return _BY_WEEK.result(snapshot, by, lambda: _by_week(project, snapshot))


_BY_WEEK: PerSnapshot[str, Summaries] = PerSnapshot(1)


def part_title(name: str, by: str) -> str:
    """Return a language, dataset or week for readers."""
    return language_name(name) if by == BY_LANGUAGE else name


def _by_week(project: Project, snapshot: Snapshot) -> Summaries:
    """Return the summaries with the week of their second rating in place of languages.

    From then on a summary counts in agreement. Were each rating in its own week, ratings of a summary from
    two weeks would not be compared; were it the last one's week, past weeks would lose summaries.
    """
    order = Window(RowNumber(), partition_by="summary_id", order_by=["completed_at", "pk"])
    second = Rating.objects.countable().filter(summary__project=project).annotate(place=order).filter(place=2)
    rows, zone = second.values_list("summary_id", "completed_at"), get_current_timezone()
    week_of = {pk: f"{localtime(moment, zone):%G-W%V}" for pk, moment in rows.iterator(chunk_size=10_000)}
    names = sorted(set(week_of.values()))
    places = places_of(whole_numbers(week_of), snapshot.summary_ids)
    of_summaries: Ints = np.full(len(snapshot.summaries), -1)
    of_summaries[places[places >= 0]] = codes(list(week_of.values()), names)[places >= 0]
    return replace(snapshot.summaries, languages=read_only(of_summaries), language_names=tuple(names))
