"""The tables of both pages as files for a paper."""

import pytest
from django.urls import reverse


@pytest.mark.parametrize("page", ["metaeval", "agreement"])
@pytest.mark.parametrize(("kind", "start"), [("csv", ""), ("tex", "\\begin{tabular}{l"), ("md", "|  | ")])
def test_the_page_links_to_its_table_in_every_format(researcher, project, page, kind, start):
    address = reverse(f"{page}_table", args=[project.slug, kind])
    assert f'href="{address}?' in researcher.get(reverse(page, args=[project.slug])).content.decode()
    answer = researcher.get(address)
    assert answer.content.decode().startswith(start)
    assert answer["Content-Disposition"].endswith(f'.{kind}"')


def test_columns_have_the_dimensions_titles(researcher, project):
    text = researcher.get(reverse("metaeval_table", args=[project.slug, "tex"])).content.decode()
    assert " & Coherence & Consistency & Fluency" in text
    assert "ROUGE-1 & $0." in text


def test_agreement_has_a_line_for_each_question_by_its_title(researcher, project):
    text = researcher.get(reverse("agreement_table", args=[project.slug, "md"])).content.decode()
    assert "| Krippendorff's α |" in text
    assert "| Coherence | undefined |" in text


@pytest.mark.parametrize("page", ["metaeval", "agreement"])
def test_another_format_is_not_found(researcher, project, page):
    assert researcher.get(reverse(f"{page}_table", args=[project.slug, "xlsx"])).status_code == 404
