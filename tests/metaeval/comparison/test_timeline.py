"""A figure over the campaign."""

import csv
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from django.urls import reverse
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.models import Rating
from metaeval.comparison.timeline import GROWTH, look_sizes, looks_back, timeline_page
from metaeval.live.choices import ComparisonChoices
from metaeval.stats.method import Method
from metaeval.stats.rows import Rows
from tests.factories import make_member
from tests.metaeval.comparison_rows import rows_of
from tests.metaeval.rated_projects import RATED_AT

pytestmark = pytest.mark.django_db

PEARSON = {"coefficient": "pearson"}


@pytest.fixture
def campaign(compared_at_length):
    """Return eighty articles, of which one was rated every day, in the order of their summaries."""
    ratings = list(Rating.objects.order_by("summary_id"))
    for place, rating in enumerate(ratings):
        rating.completed_at = RATED_AT + timedelta(days=place // 4)
    Rating.objects.bulk_update(ratings, ["completed_at"])
    compared_at_length.bump_revision()
    return compared_at_length


def choose(project, label, **others):
    setup = project.setups.get(label=label)
    return ComparisonChoices(evaluator=str(setup.pk), question="coherence", **PEARSON, **others)


def test_the_last_look_has_the_figures_of_the_comparison(campaign):
    page = timeline_page(campaign, choose(campaign, "Good"), wait_s=None)
    last = page.looks_back[-1]
    [row] = (each for each in rows_of(campaign, **PEARSON) if each["evaluator"] == "Good")
    assert (last.articles, last.summaries) == (80, 320)
    assert (last.value, last.always.low, last.always.high) == (row["value"], row["low"], row["high"])
    [once] = (
        each
        for each in rows_of(campaign, **PEARSON, interval="jackknife_articles")
        if each["evaluator"] == "Good"
    )
    assert (last.once.low, last.once.high) == (once["low"], once["high"])


def test_an_earlier_look_knows_what_was_rated_by_then(campaign):
    looks = timeline_page(campaign, choose(campaign, "Good"), wait_s=None).looks_back
    assert [look.articles for look in looks] == look_sizes(80)
    for look in looks:
        assert look.summaries == 4 * look.articles
        assert look.at == RATED_AT + timedelta(days=look.articles - 1)


def test_it_is_settled_at_the_first_look_that_excludes_nothing(campaign):
    good = timeline_page(campaign, choose(campaign, "Good"), wait_s=None)
    assert good.settled
    before = [look for look in good.looks_back if look.articles < good.settled.articles]
    assert not any(look.always.low > 0 for look in before)
    assert good.settled.always.low > 0
    assert timeline_page(campaign, choose(campaign, "Noise"), wait_s=None).settled is None


def test_articles_count_in_the_order_of_their_first_rating():
    labels, scores = np.array([[1.0, 2, 3] * 12, [1.0, 3, 2] * 12])
    articles = np.repeat(np.arange(12), 3)
    rated = np.repeat(np.arange(12.0)[::-1], 3)
    rated[0] = np.nan
    rows = Rows(labels, scores[None], articles, np.full(36, -1))
    first, last = looks_back(rows, rated, Method(level="article", coefficient="kendall_b"))
    assert (first.articles, first.summaries, last.articles, last.summaries) == (10, 30, 12, 35)


@given(st.integers(0, 10_000))
@example(13)  # the second look is at 12.5, rounded up
def test_looks_grow_by_a_quarter_until_all_articles(articles):
    sizes = look_sizes(articles)
    assert sizes == sorted(set(sizes))
    assert not sizes if articles < 10 else (sizes[0], sizes[-1]) == (10, articles)
    assert all(later <= GROWTH * size + 1 for size, later in pairwise(sizes))


def test_the_page_shows_the_chart_the_looks_and_when_it_was_settled(client, campaign):
    client.force_login(make_member(campaign, "researcher"))
    choices = choose(campaign, "Good").address()
    shown = " ".join(client.get(reverse("timeline", args=[campaign.slug]) + choices).content.decode().split())
    assert "<b>Settled</b> at" in shown
    assert "value is above 0," in shown
    assert 'class="chart campaign"' in shown
    assert "The campaign looked back on" in shown
    noise = client.get(reverse("timeline", args=[campaign.slug]) + choose(campaign, "Noise").address())
    assert "<b>Not settled</b>" in noise.content.decode()
    linked = client.get(reverse("comparison", args=[campaign.slug]) + choices).content.decode()
    assert reverse("timeline", args=[campaign.slug]) in linked
    file = reverse("timeline_figure", args=[campaign.slug, "timeline", "csv"]) + choices
    rows = list(csv.DictReader(client.get(file).content.decode().splitlines()))
    assert [row["articles"] for row in rows] == [str(size) for size in look_sizes(80)]


def test_few_articles_give_no_look_and_an_unknown_choice_is_refused(client, rated_project):
    client.force_login(make_member(rated_project, "researcher"))
    page = reverse("timeline", args=[rated_project.slug])
    assert "fewer than ten articles" in client.get(page).content.decode()
    assert client.get(page, {"level": "x"}).status_code == 400


def test_over_systems_means_the_reason_is_given(client, campaign):
    client.force_login(make_member(campaign, "researcher"))
    answer = client.get(reverse("timeline", args=[campaign.slug]), {"level": "system"})
    assert "The last one has none: over systems" in " ".join(answer.content.decode().split())


def test_pairwise_accuracy_is_never_called_settled(client, campaign):
    client.force_login(make_member(campaign, "researcher"))
    answer = client.get(reverse("timeline", args=[campaign.slug]), {"coefficient": "acc_eq"})
    shown = " ".join(answer.content.decode().split())
    assert "depends on ties, so nothing is said to be settled" in shown
    assert "ettled at" not in shown
