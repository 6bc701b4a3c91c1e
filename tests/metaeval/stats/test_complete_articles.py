"""Articles that every system of their stratum has summarised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.complete_articles import in_complete_articles

SUMMARIES = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 3), st.integers(0, 1)), max_size=25)


def by_hand(summaries):
    known = [each for each in summaries if each[0] >= 0 and each[1] >= 0]
    found = []
    for article, _, stratum in summaries:
        wanted = {system for _, system, other in known if other == stratum}
        written = {system for other, system, of in known if (other, of) == (article, stratum)}
        found.append(article >= 0 and bool(written) and written == wanted)
    return found


@given(SUMMARIES)
def test_an_article_is_complete_if_it_has_every_system_of_its_stratum(summaries):
    columns = np.array(summaries, dtype=np.int64).reshape(-1, 3).T
    assert in_complete_articles(*columns).tolist() == by_hand(summaries)


@given(SUMMARIES, st.randoms())
def test_the_order_of_summaries_does_not_matter(summaries, random):
    order = list(range(len(summaries)))
    random.shuffle(order)
    columns = np.array(summaries, dtype=np.int64).reshape(-1, 3).T
    assert (in_complete_articles(*columns[:, order]) == in_complete_articles(*columns)[order]).all()


def test_codes_must_be_whole_numbers_of_one_length():
    with pytest.raises(ValueError, match="lengths"):
        in_complete_articles([0], [0, 1], [0])
    with pytest.raises(ValueError, match="systems"):
        in_complete_articles([0], [0.5], [0])
