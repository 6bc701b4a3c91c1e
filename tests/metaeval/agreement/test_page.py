"""The needed articles and summaries of the agreement page, and how often its intervals may be looked at."""

import csv
import io
import json
import re
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.urls import reverse

from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.page import TARGETS, agreement_page
from metaeval.agreement.report import agreement_rows
from metaeval.live.choices import AgreementChoices
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.agreement.planned_units import planned_always_valid, planned_units
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_system
from tests.metaeval.rated_projects import rate_all

pytestmark = pytest.mark.django_db

ARTICLES = 20


@pytest.fixture
def project():
    """Return a project with 40 summaries rated twice, two of each article."""
    return rated_twice(ARTICLES)


def rated_twice(n_articles):
    """Return a project with two summaries of each article, rated twice.

    Raters disagree on the grammar of every fourth summary.
    """
    made = make_project()
    articles = [make_article(made) for _ in range(n_articles)]
    systems = [make_system(made, name) for name in ("a", "b")]
    ann, ben = make_rater(made), make_rater(made)
    given = []
    for number in range(2 * n_articles):
        article, system = articles[number // 2], systems[number % 2]
        summary, truth = make_summary(made, article=article, system=system), ("yes", "no")[number % 2]
        given.append((summary, ann, {"grammar": truth, "repetition": "yes"}))
        given.append((summary, ben, {"grammar": "yes" if number % 4 == 1 else truth, "repetition": "yes"}))
    rate_all(given)
    return made


def close(project):
    type(project).objects.filter(pk=project.pk).update(closed_at=datetime(2026, 11, 27, 12, tzinfo=UTC))
    project.bump_revision()


def needed(project, **choices):
    page = agreement_page(snapshot_of(project), AgreementChoices(**{"question": "grammar", **choices}))
    return page.drawn.needed


def interval_of(page):
    return next(
        figure.agreement.interval
        for figure, _ in page.drawn.figures
        if figure.statistic == "krippendorff_alpha"
    )


def row_of(project):
    """Return the row of Krippendorff's alpha of grammar in files, API and command."""
    return next(
        row
        for row in agreement_rows(project, language="all")
        if (row["question"], row["statistic"]) == ("grammar", "krippendorff_alpha")
    )


def shown(client, project, **choices):
    client.force_login(make_member(project, "manager"))
    answer = client.get(reverse("agreement", args=[project.slug]), {"question": "grammar", **choices})
    return " ".join(re.sub(r"<[^>]+>", "", answer.content.decode()).split())


def test_each_target_has_the_articles_summaries_and_ratings_that_it_needs(client, project):
    page = agreement_page(snapshot_of(project), AgreementChoices(question="grammar", interval="articles"))
    expected = [planned_units(interval_of(page), ARTICLES, float(target)) for target in TARGETS]
    assert [each.articles for each in page.drawn.needed] == expected
    assert [each.summaries for each in page.drawn.needed] == [2 * each for each in expected]
    assert [each.ratings for each in page.drawn.needed] == [4 * each for each in expected]
    assert any(sentence.startswith("Needed articles") for sentence in page.definitions)
    first = page.drawn.needed[0]
    said = f"± 0.1: {first.articles} articles ({first.summaries} summaries, {first.ratings} ratings)"
    assert said in shown(client, project, interval="articles")


def test_always_valid_intervals_need_as_many_articles_as_their_quantile_takes(client, project):
    page = agreement_page(snapshot_of(project), AgreementChoices(question="grammar"))
    expected = [planned_always_valid(interval_of(page), ARTICLES, float(target)) for target in TARGETS]
    assert [each.articles for each in page.drawn.needed] == [*expected[:2], 0]  # 0: beyond 100 times as many
    assert any("quantile of the always-valid interval" in sentence for sentence in page.definitions)
    assert f"± 0.1: {expected[0]:,.0f} articles" in shown(client, project)


def test_a_live_project_shows_intervals_that_hold_at_every_look(client, project):
    page = agreement_page(snapshot_of(project), AgreementChoices(question="grammar"))
    chosen = agreement_page(
        snapshot_of(project), AgreementChoices(question="grammar", interval="always_valid")
    )
    assert interval_of(page) == interval_of(chosen)
    assert "always-valid" in " ".join(page.definitions)
    assert (page.looks, page.for_one_look) == ("every", "?interval=articles&question=grammar")
    assert "Intervals hold however often you look" in shown(client, project)
    assert interval_of(page).definition in row_of(project)["definition"]


def test_a_single_look_at_a_live_project_is_called_one(client, project):
    single = agreement_page(snapshot_of(project), AgreementChoices(question="grammar", interval="articles"))
    always = agreement_page(snapshot_of(project), AgreementChoices(question="grammar"))
    assert interval_of(always).low < interval_of(single).low
    assert (single.looks, single.for_every_look) == ("one", "?question=grammar")
    assert "For a single look: while ratings come in, intervals like these" in shown(
        client, project, interval="articles"
    )


def test_a_closed_project_shows_intervals_for_a_single_look(client, project):
    single = agreement_page(snapshot_of(project), AgreementChoices(question="grammar", interval="articles"))
    close(project)
    page = agreement_page(snapshot_of(project), AgreementChoices(question="grammar"))
    assert interval_of(page) == interval_of(single)
    assert page.looks == "one"
    text = shown(client, project)
    assert "The campaign was closed on 27 Nov 2026" in text
    assert "Its ratings are final, so intervals are for a single look." in text
    assert interval_of(page).definition in row_of(project)["definition"]
    again = agreement_page(snapshot_of(project), AgreementChoices(interval="always_valid"))
    assert again.looks == "every"


def test_files_api_and_command_follow_the_state_of_the_campaign(client, project):
    client.force_login(make_member(project, "researcher"))
    found = {}
    for interval in ("always_valid", "articles"):
        rows = agreement_rows(project, method=AgreementMethod(interval=interval))
        assert (
            client.get(reverse("api_agreement", args=[project.slug]), {"limit": 1000}).json()["results"]
            == rows
        )
        out = io.StringIO()
        call_command("agreement", "--project", project.slug, "--format", "json", stdout=out)
        assert json.loads(out.getvalue()) == rows
        table = client.get(reverse("agreement_table", args=[project.slug, "csv"])).content.decode()
        ends = [(row["low"], row["high"]) for row in csv.DictReader(io.StringIO(table))]
        found[interval] = [
            tuple(repr(row[end]) for end in ("low", "high")) for row in rows if row["low"] is not None
        ]
        assert [each for each in ends if each != ("", "")] == found[interval]
        close(project)
    assert found["always_valid"] != found["articles"]


def test_without_intervals_nothing_is_said_of_looks(client, project):
    page = agreement_page(snapshot_of(project), AgreementChoices(interval="none"))
    assert page.looks == ""
    assert "single look" not in shown(client, project, interval="none")


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
    loose, tight = needed(project, interval="articles")
    assert loose.is_reached
    assert loose.articles == FEWEST_ARTICLES
    assert tight.is_reached
    assert tight.articles < ARTICLES
    said = shown(client, project, interval="articles")
    assert f"reached; {tight.articles} articles ({tight.summaries} summaries" in said
    assert f"{tight.ratings} ratings) would have been enough" in said


def test_nothing_is_planned_without_an_interval_over_summaries(project):
    assert needed(project, interval="none") == []
    assert needed(project, interval="raters") == []
    assert needed(project, question="repetition") == []  # alpha is undefined
    assert needed(project, statistic="cohen_kappa") == []


def test_the_details_say_each_reason_for_no_interval_once(client):
    few = rated_twice(n_articles=4)
    details = agreement_page(snapshot_of(few), AgreementChoices(question="grammar")).drawn
    reasons = details.no_interval
    assert len(reasons) == len(set(reasons)) < len(details.figures)
    assert f"no interval: {'; '.join(reasons)}." in shown(client, few)
