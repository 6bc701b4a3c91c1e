"""Length and copying, from the texts of a project's summaries."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import protocol
from metaeval.card.summary_traits import summary_traits
from metaeval.judgements import ALL
from metaeval.snapshot import snapshot_of
from tests.factories import make_article, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate

ARTICLE = "The harbour froze over.  Ships waited for two weeks."


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def traits_of(project):
    """Rate summaries of these texts, and read their traits in their order."""

    def read(*texts, article=ARTICLE, language="en"):
        rater = make_rater(project)
        for number, text in enumerate(texts):
            about = make_article(project, text=article, language=language)
            rate(make_summary(project, article=about, text=text), rater, coherence=str(number % 5 + 1))
        return summary_traits(project, snapshot_of(project), ALL)

    return read


def test_length_is_counted_in_characters_without_white_space_at_the_ends(traits_of):
    assert traits_of("Ice.", " Ice everywhere. ", "").lengths.tolist() == [4, 15, 0]


def test_a_summary_is_copied_if_it_begins_as_its_article_does(traits_of):
    traits = traits_of("The harbour froze over. Ships", "Ships waited for two weeks.", "")
    np.testing.assert_array_equal(traits.copied, [1, 0, np.nan])


def test_without_the_articles_text_copying_is_not_known(traits_of):
    traits = traits_of("The harbour froze over.", article="")
    assert np.isnan(traits.copied).all()
    assert not np.isnan(traits.lengths).any()


def test_only_summaries_in_the_language_are_read(project, traits_of):
    traits_of("Ice.")
    traits_of("Eis.", language="de")
    snapshot = snapshot_of(project)
    german = summary_traits(project, snapshot, "de").lengths
    assert np.count_nonzero(~np.isnan(german)) == 1
    assert np.count_nonzero(~np.isnan(summary_traits(project, snapshot, ALL).lengths)) == 2


def test_references_that_nobody_rates_are_not_among_them(project, traits_of):
    reference = make_summary(project, text="Not to be rated.", ratings_wanted=0, open_places=0)
    traits = traits_of("Ice.")
    assert reference.pk not in snapshot_of(project).summary_ids
    assert traits.lengths.tolist() == [4]


def test_texts_are_read_once(project, traits_of):
    traits_of("Ice.", "More ice.")
    snapshot = snapshot_of(project)
    first = summary_traits(project, snapshot, ALL)
    with CaptureQueriesContext(connection) as captured:
        assert summary_traits(project, snapshot, ALL) is first
    assert not captured
