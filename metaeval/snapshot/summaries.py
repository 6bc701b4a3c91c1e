"""The summaries that a project's figures are about."""

from dataclasses import dataclass

import numpy as np

from annotation.models import Article, Project, Summary, System
from metaeval.snapshot.arrays import Summaries, codes, read_only
from metaeval.snapshot.columns import columns, places_of, whole_numbers
from metaeval.stats.arrays import Bools, Ints


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
