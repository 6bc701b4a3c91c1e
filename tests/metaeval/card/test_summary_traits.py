"""The length of summaries, and whether they copy their article."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import protocol
from metaeval.card.summary_traits import summary_traits
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_article, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate

ARTICLE = "The harbour froze over.  Ships waited for two weeks."


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def traits_of(project):
    """Return a function that rates summaries with the given texts and returns their traits."""

    def read(*texts, article=ARTICLE, language="en"):
        rater = make_rater(project)
        for number, text in enumerate(texts):
            about = make_article(project, text=article, language=language)
            rate(make_summary(project, article=about, text=text), rater, coherence=str(number % 5 + 1))
        return summary_traits(project, snapshot_of(project), ALL)

    return read


def test_length_counts_characters_without_surrounding_whitespace(traits_of):
    assert traits_of("Ice.", " Ice everywhere. ", "").lengths.tolist() == [4, 15, 0]


def test_a_summary_that_starts_like_its_article_is_copied(traits_of):
    traits = traits_of("The harbour froze over. Ships", "Ships waited for two weeks.", "")
    np.testing.assert_array_equal(traits.copied, [1, 0, np.nan])


def test_copying_is_unknown_without_the_articles_text(traits_of):
    traits = traits_of("The harbour froze over.", article="")
    assert np.isnan(traits.copied).all()
    assert not np.isnan(traits.lengths).any()


def test_traits_cover_only_summaries_in_the_language(project, traits_of):
    traits_of("Ice.")
    traits_of("Eis.", language="de")
    snapshot = snapshot_of(project)
    german = summary_traits(project, snapshot, "de").lengths
    assert np.count_nonzero(~np.isnan(german)) == 1
    assert np.count_nonzero(~np.isnan(summary_traits(project, snapshot, ALL).lengths)) == 2


def test_unrated_references_have_no_traits(project, traits_of):
    reference = make_summary(project, text="Not to be rated.", ratings_wanted=0, open_places=0)
    traits = traits_of("Ice.")
    assert reference.pk not in snapshot_of(project).summary_ids
    assert traits.lengths.tolist() == [4]


def test_texts_are_read_once_per_snapshot(project, traits_of):
    traits_of("Ice.", "More ice.")
    snapshot = snapshot_of(project)
    first = summary_traits(project, snapshot, ALL)
    with CaptureQueriesContext(connection) as captured:
        assert summary_traits(project, snapshot, ALL) is first
    assert not captured
