"""The account for a paper: data, definitions, evaluators, versions, sources."""

from datetime import date
from importlib.metadata import version

import pytest
from django.urls import reverse

from annotation import protocol
from metaeval.choices import MetaevalChoices
from metaeval.export.how_computed import how_computed, methods_text
from metaeval.metaeval_page import whole_page
from metaeval.snapshot import snapshot_of
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


def account(project, **choices):
    return how_computed(whole_page(project, MetaevalChoices(**choices)), project, ON)


def test_it_names_the_data_the_day_and_the_software(project):
    text = account(project)
    project.refresh_from_db()
    assert f"{project.name} (questionnaire: {project.questionnaire.title})" in text
    assert f"revision {project.revision}, 6 finished ratings; computed on 2026-05-04." in text
    assert f"numpy {version('numpy')} and scipy {version('scipy')}." in text


def test_each_definition_on_the_page_stands_in_it_once(project):
    page = whole_page(project, MetaevalChoices())
    text = account(project)
    assert page.drawn.figure.definitions
    for sentence in page.drawn.figure.definitions:
        assert text.count(sentence) == 1


def test_it_names_each_evaluator_with_its_fingerprint(project):
    setup = project.setups.get()
    assert f"- ROUGE-1: {setup.signature}; fingerprint {setup.fingerprint}" in account(project)


def test_it_cites_the_methods_it_uses_and_no_others(project):
    spearman, kendall = account(project), account(project, coefficient="kendall_b")
    assert "spearman-1904-proof" in spearman
    assert "kendall-1945-ties" not in spearman
    assert "kendall-1945-ties" in kendall
    assert "spearman-1904-proof" not in kendall
    assert "lin-2004-rouge" in spearman


def test_the_page_shows_it_and_its_address_serves_it(client, project):
    client.force_login(make_member(project, "researcher"))
    page = client.get(reverse("metaeval", args=[project.slug]), {"coefficient": "pearson"})
    address = reverse("metaeval_how", args=[project.slug]) + "?coefficient=pearson"
    assert f'href="{address}"' in page.content.decode()
    answer = client.get(address)
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert "Pearson" in answer.content.decode()
    assert answer.content.decode().startswith(f"Data: {project.name}")


def test_a_project_without_figures_has_a_page_and_an_account(client, db):
    project = make_project(protocol.SUMMEVAL)
    assert "Left out of the comparison: no articles" in account(project)


@pytest.mark.parametrize(("page", "said"), [("agreement", "gwet-2008-computing"), ("systems", "mean label")])
def test_other_pages_tell_theirs_in_the_same_way(client, project, page, said):
    client.force_login(make_member(project, "researcher"))
    how = client.get(reverse(page, args=[project.slug])).context["how"]
    assert how.startswith(f"Data: {project.name}")
    assert "Computed with Touchstone" in how
    assert said in how.lower()


def test_where_nothing_is_computed_there_is_nothing_to_tell(project):
    assert methods_text(project, snapshot_of(project), [], ON) == ""
