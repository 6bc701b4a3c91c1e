"""Properties of summaries' texts that an evaluator may follow in place of quality: length and copying."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from annotation.models import Article, Project, Summary
from metaeval.judgements import ALL, Summaries, read_only
from metaeval.snapshot import Snapshot
from metaeval.stats.arrays import Floats
from scoring.contract import GENERAL, Evaluator, Item
from scoring.evaluators.copy_rate import CopyRate
from scoring.evaluators.length import Length


@dataclass(frozen=True, eq=False)
class SummaryTraits:
    """Both arrays are (summaries,), nan for those in other languages and where the property is not known."""

    lengths: Floats
    """Characters: words would not be comparable between languages, and some write without spaces."""
    copied: Floats
    """1 if the summary begins as its article does, else 0; nan without a text of either."""


def summary_traits(project: Project, snapshot: Snapshot, language: str) -> SummaryTraits:
    """Those of the project's summaries in `language`.

    Read once for each state of the summaries: new ratings and scores change no text.
    """
    kept = _kept.setdefault(snapshot.summaries, {})
    if language not in kept:
        kept[language] = _read(project, snapshot, language)
    return kept[language]


_kept: WeakKeyDictionary[Summaries, dict[str, SummaryTraits]] = WeakKeyDictionary()


def _read(project: Project, snapshot: Snapshot, language: str) -> SummaryTraits:
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
    wanted = [items[place] for place in among]
    lengths, copied = np.full((2, len(snapshot.summary_ids)), np.nan)
    lengths[places] = _scores(Length(Length.Params(unit="characters")), wanted)
    copied[places] = _scores(CopyRate(CopyRate.Params()), wanted)
    return SummaryTraits(read_only(lengths), read_only(copied))


def _scores(evaluator: Evaluator, items: Sequence[Item]) -> list[float]:
    return [each.values[GENERAL] for each in evaluator.score(items)]
