"""Systems ranked by people and by each member of an experiment."""

import pytest

from metaeval.experiments.page import ExperimentChoices, whole_page
from metaeval.experiments.systems import COMMON, PEOPLE
from metaeval.live.choices import ComparisonChoices
from metaeval.systems.views import systems_page
from scoring.models import Score, Setup

pytestmark = pytest.mark.django_db


def systems_of(project, followed, **choices):
    return whole_page(project, followed, ExperimentChoices(**choices)).results.systems


def test_each_members_own_means_equal_those_of_the_systems_page(compared, followed):
    found = systems_of(compared, followed, question="coherence", items="own")
    only = tuple(str(member.setup.pk) for member in followed.members)
    choices = ComparisonChoices(only=only, question="coherence")
    page = systems_page(compared, choices)
    scores = [each.as_json() for each in page.score_figures]
    means = {(row["system"], row["evaluator"]): row["value"] for row in scores}
    labels = [each.as_json() for each in page.mean_figures]
    means |= {(row["system"], ""): row["value"] for row in labels if row["dimension"] == "coherence"}
    rows = {(row["system"], row["evaluator"]): row["value"] for row in found.as_json()}
    assert rows == means
    assert found.columns == [PEOPLE, "0", "1", "2"]


def test_ranks_count_only_the_systems_shown(compared, followed):
    every = systems_of(compared, followed)
    assert [sorted(means[place].rank for _, means in every.rows) for place in range(4)] == [[1, 2, 3, 4]] * 4
    values = {name: means[0].figure.estimate.value for name, means in every.rows}
    best, *_, worst = sorted(values, key=values.get, reverse=True)
    two = systems_of(compared, followed, named=(best, worst))
    assert {name: means[0].rank for name, means in two.rows} == {best: 1, worst: 2}
    whole = {name: means[0].figure.estimate for name, means in every.rows}
    assert all(means[0].figure.estimate == whole[name] for name, means in two.rows)


def test_people_and_members_are_compared_on_common_summaries_by_default(compared, followed):
    rows = Score.objects.filter(setup=followed.members[0].setup, summary__system__name="s0")
    for row in rows.order_by("pk")[:10]:
        Score.objects.filter(pk=row.pk).update(value=None, reason="refused")
    compared.bump_revision()

    def sizes(**choices):
        found = systems_of(compared, followed, **choices)
        [means] = [means for name, means in found.rows if name == "s0"]
        return [mean.figure.estimate.labelled + mean.figure.estimate.scored_only for mean in means]

    whole = sizes(items="own")
    assert whole == [30, 20, 29, 30]
    common = rows.filter(value__isnull=False).exclude(summary__article__in=_seen_articles(followed))
    kept = common.values("summary")
    assert sizes() == [len(kept)] * 4
    other = Score.objects.filter(setup=followed.members[2].setup, summary__in=kept)
    [means] = [means for name, means in systems_of(compared, followed).rows if name == "s0"]
    by_hand = sum(row.value for row in other) / len(other)
    assert means[3].figure.estimate.value == pytest.approx(by_hand)
    assert COMMON in means[3].figure.definitions


def _seen_articles(followed):
    return {
        article
        for member in followed.members
        for article in member.setup.seen_articles.values_list("pk", flat=True)
    }


def test_equal_means_share_a_rank_and_undefined_means_have_none(compared, followed):
    noise = Setup.objects.get(project=compared, label="Noise")
    Score.objects.filter(setup=noise).update(value=2.0)
    Score.objects.filter(setup=noise, summary__system__name="s3").update(value=None, reason="refused")
    compared.bump_revision()
    found = systems_of(compared, followed)
    place = found.columns.index("0")
    ranks = {name: means[place].rank for name, means in found.rows}
    assert ranks == {"s0": 1, "s1": 1, "s2": 1, "s3": None}
    undefined = [row for row in found.as_json() if (row["system"], row["member"]) == ("s3", "0")]
    assert [(row["value"], row["rank"]) for row in undefined] == [(None, None)]


def test_lower_is_better_members_rank_the_lowest_mean_first(compared, followed, monkeypatch):
    monkeypatch.setattr("scoring.evaluators.length.Length.higher_is_better", False)
    compared.bump_revision()
    found = systems_of(compared, followed)
    place = found.columns.index("2")
    means = {name: means[place] for name, means in found.rows}
    lowest = min(means, key=lambda name: means[name].figure.estimate.value)
    assert means[lowest].rank == 1
