"""Pages that find the ids of their rows first."""

import pytest

from annotation.models import Summary
from annotation.summaries.find_summaries import find_summaries
from annotation.web.ids_first import IdsFirstPaginator
from tests.factories import make_project, make_summary

pytestmark = pytest.mark.django_db


def test_pages_have_the_rows_of_the_query_in_its_order(django_assert_num_queries):
    project = make_project()
    articles = [make_summary(project).article for _ in range(5)]
    listed = find_summaries(project)
    pages = IdsFirstPaginator(listed, 2)
    assert [[each.article for each in page] for page in pages] == [articles[:2], articles[2:4], articles[4:]]
    with django_assert_num_queries(3):  # the count, the ids, the rows with their joined rows
        [last] = IdsFirstPaginator(listed, 2).get_page(99)
        assert (last.article.title, last.system.name) == (articles[4].title, "system-a")
        assert last.excerpt


def test_a_row_deleted_since_its_id_was_found_is_left_out():
    project = make_project()
    make_summary(project)
    pages = IdsFirstPaginator(find_summaries(project), 2)
    assert pages.count == 1
    Summary.objects.all().delete()
    assert list(pages.get_page(1)) == []
