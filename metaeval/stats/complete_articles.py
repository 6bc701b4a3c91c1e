"""Articles that every system has summarised."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Bools, Ints, code_vector, refuse_unequal_lengths


def in_complete_articles(articles: npt.ArrayLike, systems: npt.ArrayLike, strata: npt.ArrayLike) -> Bools:
    """Return (n,) whether each summary's article has a summary by every system of its stratum.

    The systems of a stratum, such as a language, are those with a summary of any of its articles.

    Parameters
    ----------
    articles, systems : (n,) codes; negative = not known. A summary of an unknown article is never in a
        complete one, and an unknown system neither completes an article nor is missed.
    strata : (n,) codes; an article in two strata counts as two.

    Raises ValueError for unequal lengths and codes that are not whole numbers.

    Source: Clark et al. 2023 (SEAHORSE), appendix B, Table 10: articles "summarized by all 9 summarization
    systems (or 6 systems for the non-en languages that did not use the T5 models)".

    >>> in_complete_articles([0, 0, 1, 2], [0, 1, 0, 0], [0, 0, 0, 1]).tolist()
    [True, True, False, True]
    """
    article, system = code_vector("articles", articles), code_vector("systems", systems)
    stratum = code_vector("strata", strata)
    refuse_unequal_lengths(articles=article, systems=system, strata=stratum)
    known = (article >= 0) & (system >= 0)
    place = np.unique(stratum, return_inverse=True)[1]
    unit = place * (article.max(initial=0) + 1) + article
    own = np.unique(unit[known], return_inverse=True)[1]
    found, wanted = _distinct(own, system[known])[own], _distinct(place[known], system[known])[place[known]]
    is_complete = np.zeros(len(article), dtype=bool)
    is_complete[known] = found == wanted
    # A summary by an unknown system belongs to an article that others may have made complete.
    is_complete[article >= 0] = np.isin(unit[article >= 0], unit[is_complete])
    return is_complete


def _distinct(groups: Ints, members: Ints) -> Ints:
    """Return how many different members each group has, (groups,)."""
    n = members.max(initial=0) + 1
    return np.bincount(np.unique(groups * n + members) // n)
