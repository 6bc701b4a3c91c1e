"""The planning page and its files."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import protocol
from annotation.models import Project
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, rate_all, score

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def judged(project):
    rng = np.random.default_rng(3)
    summaries = make_summaries(project, [f"article {place}" for place in range(15)], ["a", "b"])
    truth = {summary: int(rng.integers(1, 6)) for summary in summaries}
    rater = make_rater(project)
    rate_all((summary, rater, {"coherence": str(point)}) for summary, point in truth.items())
    for label, noise in (("Good", 0.5), ("Poor", 9.0)):
        score(make_setup(project, label), {s: t + noise * rng.normal() for s, t in truth.items()})
    return project


def get_page(client, project, query=None, **headers):
    answer = client.get(reverse("planning", args=[project.slug]), query or {}, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def setup_key(project, label):
    return str(project.setups.get(label=label).pk)


def test_the_page_plans_for_the_first_evaluator_against_another(researcher, judged):
    shown = get_page(researcher, judged)
    assert "Good, interval of ± 0.05" in shown
    assert "Good compared with Poor" in shown
    assert "n 30" in shown
    assert "fewer than 10 articles" in shown  # fluency has no ratings


def test_evaluator_and_target_width_can_be_chosen(researcher, judged):
    shown = get_page(researcher, judged, {"evaluator": setup_key(judged, "Poor"), "target": "0.01"})
    assert "Poor, interval of ± 0.01" in shown
    assert "Poor compared with Good" in shown


def test_the_csv_has_both_tables(researcher, judged):
    answer = researcher.get(reverse("planning_table", args=[judged.slug, "csv"]), {"target": "0.02"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    coherence = [row for row in rows if row["dimension"] == "coherence"]
    assert [(row["against"], row["target"]) for row in coherence] == [("", "0.02"), ("Poor", "")]
    assert all(row["definition"] and row["status"] for row in rows)
    assert int(coherence[0]["summaries_wanted"]) > 30


@pytest.mark.parametrize(("kind", "separator"), [("tex", " & "), ("md", " | ")])
def test_both_tables_can_be_printed(researcher, judged, kind, separator):
    judged.setups.filter(label="Poor").update(label="Poor_1")
    judged.bump_revision()
    page = researcher.get(reverse("planning", args=[judged.slug]), {"target": "0.02"}).context["page"]
    plan = next(each for each in page.plans.widths if each.labels.dimension == "coherence")
    answer = researcher.get(reverse("planning_table", args=[judged.slug, kind]), {"target": "0.02"})
    assert answer["Content-Disposition"].endswith(f'-planning.{kind}"')
    text = answer.content.decode()
    low, high = (f"{end:,.0f}" for end in plan.summaries[1:])
    sign = {"tex": r"$\pm$", "md": "±"}[kind]
    assert separator.join([f"Good, interval of {sign} 0.02", "Value", sign, "Summaries needed"]) in text
    assert separator.join(["Good compared with Poor\\_1", "Value"]) in text
    needed = f"{plan.summaries[0]:,.0f} [{low}, {high}]"
    assert needed in text.replace("\\[", "[").replace("\\]", "]")
    assert f"{separator}{plan.more_ratings:,.0f} " in text
    assert f"Fluency{separator}undefined" in text
    assert "fewer than 10 articles" in text


def plans_of(client, project, **query):
    page = client.get(reverse("planning", args=[project.slug]), query).context["page"]
    return [each.plan for each in (page.plans.widths[0], page.plans.differences[0])]


def test_plans_of_a_live_campaign_are_for_every_look_unless_one_is_chosen(researcher, judged):
    shown = " ".join(get_page(researcher, judged, {"target": "0.02"}).split())
    assert "Intervals hold however often you look while ratings come in." in shown
    assert "half of the 95% interval that holds at every look is 0.02 or less" in shown
    once = " ".join(get_page(researcher, judged, {"target": "0.02", "interval": "one_look"}).split())
    assert "<b>For a single look:</b>" in once
    assert "holds at every look" not in once
    every, single = (
        plans_of(researcher, judged, target="0.02"),
        plans_of(researcher, judged, target="0.02", interval="one_look"),
    )
    assert every[0].wanted > 1.5 * single[0].wanted
    assert every[1].half_width > 1.5 * single[1].half_width


def test_plans_over_systems_means_are_for_a_single_look_only(researcher, judged):
    assert "nothing holds at every look" in get_page(researcher, judged, {"level": "system"})


def test_plans_of_a_closed_campaign_are_for_a_single_look(researcher, judged):
    Project.objects.filter(pk=judged.pk).update(closed_at=timezone.now())
    judged.bump_revision()
    shown = get_page(researcher, judged)
    assert "The campaign was closed on" in shown
    assert "hold at every look" not in shown


def test_plans_without_an_evaluator_are_an_empty_table(researcher, project):
    for kind in ("csv", "tex", "md"):
        assert researcher.get(reverse("planning_table", args=[project.slug, kind])).status_code == 200
    assert researcher.get(reverse("planning_table", args=[project.slug, "pdf"])).status_code == 404


def test_the_page_links_its_files(researcher, judged):
    shown = get_page(researcher, judged, {"target": "0.02"})
    for kind in ("csv", "tex", "md"):
        assert f'{reverse("planning_table", args=[judged.slug, kind])}?target=0.02"' in shown


def test_polling_returns_204_or_replaces_existing_elements(researcher, judged):
    revision = Project.objects.get(pk=judged.pk).revision
    address = reverse("planning", args=[judged.slug])
    assert researcher.get(address, {"revision": revision}, **HTMX).status_code == 204
    judged.bump_revision()
    fragment, whole = (
        get_page(researcher, judged, {"revision": revision}, **HTMX),
        get_page(researcher, judged),
    )
    for identifier in ("pages", "lede", "status", "numbers", "how"):
        assert f'id="{identifier}" hx-swap-oob' in fragment
        assert whole.count(f'id="{identifier}"') == 1


def test_an_empty_project_explains_the_next_step(client, project):
    client.force_login(make_member(project, "manager"))
    assert "No ratings yet" in get_page(client, project)


def test_labels_without_scores_prompt_to_run_an_evaluator(researcher, project):
    for summary in make_summaries(project, ["x"], ["a"]):
        rate(summary, make_rater(project), coherence="3")
    assert "No scores yet" in get_page(researcher, project)


def test_a_single_evaluator_has_no_comparison(researcher, judged):
    shown = get_page(researcher, judged, {"only": setup_key(judged, "Good")})
    assert "Good, interval of" in shown
    assert "compared with" not in shown


@pytest.mark.parametrize("query", [{"target": "0.3"}, {"evaluator": "0"}, {"against": "0"}, {"level": "x"}])
def test_unknown_choices_are_refused(researcher, judged, query):
    assert researcher.get(reverse("planning", args=[judged.slug]), query).status_code == 400


def test_an_evaluator_chosen_on_both_sides_is_compared_with_another(researcher, judged):
    same = setup_key(judged, "Poor")
    assert "Poor compared with Good" in get_page(researcher, judged, {"evaluator": same, "against": same})
