"""Downloads of the tables on the comparison and agreement pages."""

import pytest
from django.urls import reverse


@pytest.mark.parametrize("page", ["comparison", "agreement"])
@pytest.mark.parametrize(("kind", "start"), [("csv", ""), ("tex", "\\begin{tabular}{l"), ("md", "|  | ")])
def test_pages_link_to_their_table_in_every_format(rated_project_reader, rated_project, page, kind, start):
    address = reverse(f"{page}_table", args=[rated_project.slug, kind])
    assert (
        f'href="{address}?'
        in rated_project_reader.get(reverse(page, args=[rated_project.slug])).content.decode()
    )
    answer = rated_project_reader.get(address)
    assert answer.content.decode().startswith(start)
    assert answer["Content-Disposition"].endswith(f'.{kind}"')


def test_columns_are_titled_by_dimension(rated_project_reader, rated_project):
    text = rated_project_reader.get(
        reverse("comparison_table", args=[rated_project.slug, "tex"])
    ).content.decode()
    assert " & Coherence & Consistency & Fluency" in text
    assert "ROUGE-1 & $0." in text


def test_the_agreement_table_has_a_line_per_question(rated_project_reader, rated_project):
    text = rated_project_reader.get(
        reverse("agreement_table", args=[rated_project.slug, "md"])
    ).content.decode()
    assert "| Krippendorff's α |" in text
    assert "| Coherence | undefined |" in text


@pytest.mark.parametrize("page", ["comparison", "agreement"])
def test_unknown_formats_are_not_found(rated_project_reader, rated_project, page):
    assert (
        rated_project_reader.get(reverse(f"{page}_table", args=[rated_project.slug, "xlsx"])).status_code
        == 404
    )
