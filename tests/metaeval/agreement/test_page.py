"""The needed summaries of the agreement page."""

import math
import re

import pytest
from django.urls import reverse

from metaeval.agreement.page import TARGETS, agreement_page
from metaeval.live.choices import AgreementChoices
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    """Return a project with 40 summaries rated twice; raters disagree on the grammar of every fourth one."""
    made = make_project()
    ann, ben = make_rater(made), make_rater(made)
    given = []
    for number in range(40):
        summary, truth = make_summary(made), ("yes", "no")[number % 2]
        given.append((summary, ann, {"grammar": truth, "repetition": "yes"}))
        given.append((summary, ben, {"grammar": "yes" if number % 4 == 1 else truth, "repetition": "yes"}))
    rate_all(given)
    return made


def needed(project, **choices):
    page = agreement_page(snapshot_of(project), AgreementChoices(**{"question": "grammar", **choices}))
    return page.drawn.needed


def test_each_target_has_the_summaries_and_ratings_that_it_needs(client, project):
    page = agreement_page(snapshot_of(project), AgreementChoices(question="grammar"))
    interval = next(
        figure.agreement.interval
        for figure, _ in page.drawn.figures
        if figure.statistic == "krippendorff_alpha"
    )
    half = (interval.high - interval.low) / 2
    expected = [math.ceil(40 * (half / float(target)) ** 2) for target in TARGETS]
    assert [each.summaries for each in page.drawn.needed] == expected
    assert [each.ratings for each in page.drawn.needed] == [2 * each for each in expected]
    assert any(sentence.startswith("Needed summaries") for sentence in page.definitions)
    client.force_login(make_member(project, "manager"))
    shown = client.get(reverse("agreement", args=[project.slug]), {"question": "grammar"}).content.decode()
    said = " ".join(re.sub(r"<[^>]+>", "", shown).split())
    assert f"± 0.1: {expected[0]:,} summaries ({2 * expected[0]:,} ratings)" in said


def test_nothing_is_planned_without_an_interval_over_summaries(project):
    assert needed(project, interval="none") == []
    assert needed(project, interval="raters") == []
    assert needed(project, question="repetition") == []  # alpha is undefined
    assert needed(project, statistic="cohen_kappa") == []
