"""The methods text of a page: data, definitions, evaluators, versions and sources."""

from datetime import date
from importlib.metadata import version

import pytest
from django.urls import reverse

from annotation import protocol
from metaeval.agreement.page import agreement_page
from metaeval.comparison.page import whole_page
from metaeval.live.choices import AgreementChoices, ComparisonChoices
from metaeval.live.how_computed import how_computed
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

ON = date(2026, 5, 4)


@pytest.fixture
def project(db):
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project)
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    for summary, answer in zip(summaries, "123455", strict=True):
        rate(summary, rater, coherence=answer)
    score(make_setup(project, "ROUGE-1"), dict(zip(summaries, [1.0, 3, 2, 2, 4, 6], strict=True)))
    return project


def methods_text(project, **choices):
    return how_computed(whole_page(project, ComparisonChoices(**choices)), project, ON)


def test_the_text_names_data_date_and_software(project):
    text = methods_text(project)
    project.refresh_from_db()
    assert f"{project.name} (questionnaire: {project.questionnaire.title})" in text
    counted = "6 finished ratings of 6 summaries by 1 rater (raters in good standing), while more come in"
    assert f"revision {project.revision}; {counted}; computed on 2026-05-04." in text
    assert f"numpy {version('numpy')} and scipy {version('scipy')}." in text


def test_the_text_counts_what_the_figures_use(project):
    """Ratings by the chosen group, of the chosen systems, on the chosen questions."""
    summaries = list(project.summaries.order_by("pk"))
    for group, answer in (("expert", "4"), ("crowd", "2")):
        rater = make_rater(project, group=group)
        for summary in summaries[:4]:
            rate(summary, rater, fluency=answer)
    by_experts = "4 finished ratings of 4 summaries by 1 rater (raters of the group expert)"
    together = "14 finished ratings of 6 summaries by 3 raters (raters in good standing of all groups"
    assert by_experts in methods_text(project, group="expert")
    assert f"{together} together (crowd, expert))" in methods_text(project)
    assert f"{together} together (crowd, expert))" in methods_text(project, group="all")
    assert "8 finished ratings of 4 summaries by 2 raters" in methods_text(project, questions=("fluency",))
    assert "6 finished ratings of 2 summaries by 3 raters" in methods_text(project, systems=("a",))


def test_the_text_contains_each_definition_once(project):
    page = whole_page(project, ComparisonChoices())
    text = methods_text(project)
    assert page.drawn.figure.definitions
    for sentence in page.drawn.figure.definitions:
        assert text.count(sentence) == 1


def test_the_text_names_each_evaluator_with_its_fingerprint(project):
    setup = project.setups.get()
    assert f"- ROUGE-1: {setup.signature}; fingerprint {setup.fingerprint}" in methods_text(project)


def test_the_text_cites_only_the_methods_used(project):
    spearman, kendall = methods_text(project), methods_text(project, coefficient="kendall_b")
    assert "spearman-1904-proof" in spearman
    assert "kendall-1945-ties" not in spearman
    assert "kendall-1945-ties" in kendall
    assert "spearman-1904-proof" not in kendall
    assert "lin-2004-rouge" in spearman


def test_the_page_links_to_the_text_as_a_file(client, project):
    client.force_login(make_member(project, "researcher"))
    page = client.get(reverse("comparison", args=[project.slug]), {"coefficient": "pearson"})
    address = reverse("comparison_methods", args=[project.slug]) + "?coefficient=pearson"
    assert f'href="{address}"' in page.content.decode()
    answer = client.get(address)
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert "Pearson" in answer.content.decode()
    assert answer.content.decode().startswith(f"Data: {project.name}")


def test_a_project_without_figures_has_a_text(client, db):
    project = make_project(protocol.SUMMEVAL)
    assert "Left out of the comparison: no articles" in methods_text(project)


@pytest.mark.parametrize(
    ("page", "said"), [("agreement", "gwet-2008-computing"), ("systems", "cut at the ends of the scale")]
)
def test_other_pages_have_a_methods_text_too(client, project, page, said):
    client.force_login(make_member(project, "researcher"))
    how = client.get(reverse(page, args=[project.slug])).context["how"]
    assert how.startswith(f"Data: {project.name}")
    assert "Computed with Touchstone" in how
    assert said in how.lower()


def test_the_text_of_an_agreement_page_without_ratings_is_empty(db):
    project = make_project(protocol.SUMMEVAL)
    assert how_computed(agreement_page(snapshot_of(project), AgreementChoices()), project, ON) == ""
