"""The needed articles and summaries of the agreement page."""

import re

import pytest
from django.urls import reverse

from metaeval.agreement.page import TARGETS, agreement_page
from metaeval.live.choices import AgreementChoices
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.agreement.planned_units import planned_units
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_system
from tests.metaeval.rated_projects import rate_all

pytestmark = pytest.mark.django_db

ARTICLES = 20


@pytest.fixture
def project():
    """Return a project with 40 summaries rated twice; raters disagree on the grammar of every fourth one.

    Each two summaries are of one article.
    """
    made = make_project()
    articles = [make_article(made) for _ in range(ARTICLES)]
    systems = [make_system(made, name) for name in ("a", "b")]
    ann, ben = make_rater(made), make_rater(made)
    given = []
    for number in range(2 * ARTICLES):
        article, system = articles[number // 2], systems[number % 2]
        summary, truth = make_summary(made, article=article, system=system), ("yes", "no")[number % 2]
        given.append((summary, ann, {"grammar": truth, "repetition": "yes"}))
        given.append((summary, ben, {"grammar": "yes" if number % 4 == 1 else truth, "repetition": "yes"}))
    rate_all(given)
    return made


def needed(project, **choices):
    page = agreement_page(snapshot_of(project), AgreementChoices(**{"question": "grammar", **choices}))
    return page.drawn.needed


def interval_of(page):
    return next(
        figure.agreement.interval
        for figure, _ in page.drawn.figures
        if figure.statistic == "krippendorff_alpha"
    )


def shown(client, project, **choices):
    client.force_login(make_member(project, "manager"))
    answer = client.get(reverse("agreement", args=[project.slug]), {"question": "grammar", **choices})
    return " ".join(re.sub(r"<[^>]+>", "", answer.content.decode()).split())


def test_each_target_has_the_articles_summaries_and_ratings_that_it_needs(client, project):
    page = agreement_page(snapshot_of(project), AgreementChoices(question="grammar"))
    expected = [planned_units(interval_of(page), ARTICLES, float(target)) for target in TARGETS]
    assert [each.articles for each in page.drawn.needed] == expected
    assert [each.summaries for each in page.drawn.needed] == [2 * each for each in expected]
    assert [each.ratings for each in page.drawn.needed] == [4 * each for each in expected]
    assert any(sentence.startswith("Needed articles") for sentence in page.definitions)
    first = page.drawn.needed[0]
    said = f"± 0.1: {first.articles} articles ({first.summaries} summaries, {first.ratings} ratings)"
    assert said in shown(client, project)


def test_over_summaries_each_target_has_the_summaries_and_ratings_that_it_needs(client, project):
    page = agreement_page(snapshot_of(project), AgreementChoices(question="grammar", interval="units"))
    expected = [planned_units(interval_of(page), 2 * ARTICLES, float(target)) for target in TARGETS]
    assert [each.summaries for each in page.drawn.needed] == expected
    assert [each.ratings for each in page.drawn.needed] == [2 * each for each in expected]
    assert f"± 0.1: {expected[0]:,.0f} summaries ({2 * expected[0]:,.0f} ratings)" in shown(
        client, project, interval="units"
    )


def test_a_reached_target_says_how_few_would_have_been_enough(client, project, monkeypatch):
    monkeypatch.setattr("metaeval.agreement.page.TARGETS", ("0.9", "0.4"))
    loose, tight = needed(project)
    assert loose.is_reached
    assert loose.articles == FEWEST_ARTICLES
    assert tight.is_reached
    assert tight.articles < ARTICLES
    said = shown(client, project)
    assert f"reached; {tight.articles} articles ({tight.summaries} summaries" in said
    assert f"{tight.ratings} ratings) would have been enough" in said


def test_nothing_is_planned_without_an_interval_over_summaries(project):
    assert needed(project, interval="none") == []
    assert needed(project, interval="raters") == []
    assert needed(project, question="repetition") == []  # alpha is undefined
    assert needed(project, statistic="cohen_kappa") == []
