"""Traits of summaries that an evaluator may reward in place of quality: length and copying."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from annotation.models import Article, Project, Summary
from metaeval.snapshot.arrays import ALL, Summaries, read_only
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Floats, Ints
from scoring.contract.evaluator import GENERAL, Evaluator
from scoring.contract.items import Item
from scoring.evaluators.copy_rate import CopyRate
from scoring.evaluators.length import Length


@dataclass(frozen=True, eq=False)
class SummaryTraits:
    """The traits of summaries; arrays are (summaries,), nan for other languages and unknown values."""

    lengths: Floats
    """Characters, since words are not comparable between languages."""
    copied: Floats
    """1 if the summary begins like its article, else 0; nan without either text."""


def summary_traits(project: Project, snapshot: Snapshot, language: str) -> SummaryTraits:
    """Return the traits of summaries in `language`, cached until a text changes."""
    kept = _kept.setdefault(snapshot.summaries, {})
    if language not in kept:
        kept[language] = _read(project, snapshot, language)
    return kept[language]


_kept: WeakKeyDictionary[Summaries, dict[str, SummaryTraits]] = WeakKeyDictionary()


def read_items(project: Project, snapshot: Snapshot, language: str) -> tuple[Ints, list[Item]]:
    """Return the places of the summaries in `language`, and each with its article."""
    summaries = Summary.objects.filter(project=project)
    articles = Article.objects.filter(project=project)
    if language != ALL:
        summaries, articles = summaries.filter(article__language=language), articles.filter(language=language)
    texts = dict(articles.values_list("pk", "text"))
    rows = summaries.order_by("pk").values_list("pk", "article_id", "text")
    ids, items = [], []
    for pk, article_id, text in rows.iterator(chunk_size=10_000):
        ids.append(pk)
        items.append(Item(str(pk), text, article=texts[article_id]))
    _, places, among = np.intersect1d(snapshot.summary_ids, ids, assume_unique=True, return_indices=True)
    return places, [items[place] for place in among]


def _read(project: Project, snapshot: Snapshot, language: str) -> SummaryTraits:
    places, wanted = read_items(project, snapshot, language)
    lengths, copied = np.full((2, len(snapshot.summary_ids)), np.nan)
    lengths[places] = _scores(Length(Length.Params(unit="characters")), wanted)
    copied[places] = _scores(CopyRate(CopyRate.Params()), wanted)
    return SummaryTraits(read_only(lengths), read_only(copied))


def _scores(evaluator: Evaluator, items: Sequence[Item]) -> list[float]:
    return [each.values[GENERAL] for each in evaluator.score(items)]
