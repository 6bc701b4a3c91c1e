"""The page of preregistered comparisons, its form, file and API."""

import csv
import math
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.projects.closing import close_campaign
from metaeval.models import Preregistration
from metaeval.preregistrations.page import NoChoices, preregistrations_page
from metaeval.preregistrations.registering import Statement, preregister, withdraw_preregistration
from metaeval.stats.significance.corrections import holm
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.comparison_rows import rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client, compared_at_length):
    user = make_member(compared_at_length, "researcher")
    client.force_login(user)
    return user


@pytest.fixture
def setups(compared_at_length):
    return {each.label: each.pk for each in compared_at_length.setups.all()}


def register(project, user, setups, claim, first, second, **others):
    method = {"level": "article", "coefficient": "kendall_b"}
    stated = {"claim": claim, "first": setups[first], "second": setups[second], "question": "coherence"}
    return preregister(project, user, Statement(**{**stated, **method, **others}))


def rows(project):
    return preregistrations_page(project, NoChoices(), wait_s=None).rows


def read_page(client, project, name="preregistrations", *arguments):
    answer = client.get(reverse(name, args=[project.slug, *arguments]))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_each_claim_has_its_verdict(compared_at_length, researcher, setups):
    given = compared_at_length, researcher, setups
    register(*given, "better", "Good", "Noise")
    register(*given, "better", "Noise", "Good")
    register(*given, "better", "Good", "Also good")
    register(*given, "as_good", "Good", "Also good", margin=0.3)
    register(*given, "equivalent", "Good", "Also good", margin=0.3)
    register(*given, "as_good", "Noise", "Good", margin=0.05)
    assert [row.verdict for row in rows(compared_at_length)] == [
        "shown",
        "the opposite is shown",
        "not shown so far",
        "shown",
        "shown",
        "not shown so far",
    ]
    close_campaign(compared_at_length, make_member(compared_at_length, "manager"))
    assert [row.verdict for row in rows(compared_at_length)][2] == "not shown"


def test_p_values_are_those_of_the_comparison_corrected_by_holm_within_the_family(
    compared_at_length, researcher, setups
):
    given = compared_at_length, researcher, setups
    register(*given, "better", "Good", "Noise")
    register(*given, "better", "Also good", "Noise")
    register(*given, "better", "Good", "Also good")
    compared = {
        (row["evaluator"], pair["other"]): pair
        for row in rows_of(compared_at_length, level="article", coefficient="kendall_b", correction="none")
        for pair in row["differences"]
    }
    pairs = [compared[pair] for pair in [("Good", "Noise"), ("Also good", "Noise"), ("Good", "Also good")]]
    found = rows(compared_at_length)
    assert [row.outcome.difference for row in found] == [pair["difference"] for pair in pairs]
    assert [row.p_value for row in found] == pytest.approx(holm([pair["p_value"] for pair in pairs]).tolist())


def test_while_ratings_come_in_p_holds_at_every_look(compared_at_length, researcher, setups):
    register(compared_at_length, researcher, setups, "as_good", "Good", "Also good", margin=0.3)
    assert "so that it holds at every look" in rows(compared_at_length)[0].outcome.definition
    close_campaign(compared_at_length, make_member(compared_at_length, "manager"))
    [row] = rows(compared_at_length)
    assert "by the paired bootstrap over articles' standard error" in row.outcome.definition


def test_a_withdrawn_one_counts_in_the_correction_unless_it_was_never_seen(
    compared_at_length, researcher, setups
):
    given = compared_at_length, researcher, setups
    register(*given, "better", "Good", "Also good")
    [alone] = rows(compared_at_length)
    withdrawn = register(*given, "better", "Also good", "Good", level="pooled")
    withdraw_preregistration(compared_at_length, researcher, withdrawn.pk, "The plot looked bad.")
    first, second = rows(compared_at_length)
    assert first.p_value == pytest.approx(min(1, 2 * alone.p_value))
    assert (second.verdict, second.outcome) == ("withdrawn", None)
    assert math.isnan(second.p_value)
    Preregistration.objects.filter(pk=withdrawn.pk).update(was_unseen=True)
    assert rows(compared_at_length)[0].p_value == pytest.approx(alone.p_value)


def test_what_cannot_be_tested_says_why_and_counts_in_the_correction(compared_at_length, researcher, setups):
    given = compared_at_length, researcher, setups
    register(*given, "better", "Good", "Also good")
    [alone] = rows(compared_at_length)
    register(*given, "better", "Good", "Noise", level="system")
    first, second = rows(compared_at_length)
    assert first.p_value == pytest.approx(min(1, 2 * alone.p_value))
    assert second.verdict.startswith("no result: over systems' means nothing holds at every look")
    register(*given, "better", "Good", "Noise", question="fluency")
    assert rows(compared_at_length)[2].outcome.reason


@pytest.mark.parametrize("gone", [{"language": "xx"}, {"group": "crowd"}])
def test_a_language_or_group_that_is_gone_is_the_reason(compared_at_length, researcher, setups, gone):
    registered = register(compared_at_length, researcher, setups, "better", "Good", "Noise")
    Preregistration.objects.filter(pk=registered.pk).update(**gone)
    [row] = rows(compared_at_length)
    [(name, value)] = gone.items()
    assert row.verdict.startswith(f"no result: {name}: found '{value}', expected")


def test_labels_are_of_the_chosen_group_which_the_form_offers_beside_another(
    client, compared_at_length, researcher, setups
):
    form = reverse("preregistration_new", args=[compared_at_length.slug])
    compared_at_length.raters.update(group="expert")
    compared_at_length.bump_revision()
    assert 'name="group"' not in client.get(form).content.decode()
    make_rater(compared_at_length, group="crowd")
    compared_at_length.bump_revision()
    assert '<option value="crowd">crowd</option>' in client.get(form).content.decode()
    for group in ("expert", "crowd"):
        register(compared_at_length, researcher, setups, "better", "Good", "Noise", group=group)
    experts, crowd = rows(compared_at_length)
    assert experts.verdict == "shown"
    assert experts.statement.endswith("raters of expert)")
    assert crowd.outcome.n == 0
    assert crowd.outcome.reason


def test_a_deleted_evaluator_keeps_its_name(compared_at_length, researcher, setups):
    registered = register(compared_at_length, researcher, setups, "better", "Good", "Noise")
    Preregistration.objects.filter(pk=registered.pk).update(first=None)
    [row] = rows(compared_at_length)
    assert row.statement.startswith(
        "Good is better than Noise on Coherence (Kendall's τ-b, mean over articles)"
    )
    assert row.verdict == "no result: the evaluator was deleted"


def test_the_page_tells_statement_verdict_and_when_it_was_stated(
    client, compared_at_length, researcher, setups
):
    assert "Nothing is preregistered" in read_page(client, compared_at_length)
    register(
        compared_at_length, researcher, setups, "as_good", "Good", "Also good", margin=0.3, note="Hoped."
    )
    shown = read_page(client, compared_at_length)
    assert "Good is as good as Also good within .300 on Coherence" in shown
    assert "✓ shown" in shown
    assert re.search(r'<a [^>]*aria-current="page"[^>]*>Results</a>', shown)
    assert "<b>after 320 ratings</b>. Hoped." in shown
    assert "They hold however often you look while ratings come in." in shown
    assert "Preregistered comparisons are a family of their own" in shown
    Preregistration.objects.update(ratings_before=0)
    assert "before the first rating" in read_page(client, compared_at_length)


def test_the_comparison_says_that_it_explores(client, compared_at_length, researcher, setups):
    assert "exploratory" not in read_page(client, compared_at_length, "comparison")
    register(compared_at_length, researcher, setups, "better", "Good", "Noise")
    shown = read_page(client, compared_at_length, "comparison")
    assert "1 comparison was preregistered in this project and tested as a family of their own." in shown
    assert reverse("preregistrations", args=[compared_at_length.slug]) in shown
    methods = client.get(reverse("comparison_methods", args=[compared_at_length.slug])).content.decode()
    assert "The comparisons given here are exploratory." in methods


def test_the_form_registers_and_keeps_what_was_typed_if_refused(
    client, compared_at_length, researcher, setups
):
    page = reverse("preregistration_new", args=[compared_at_length.slug])
    assert "It cannot be changed afterwards." in client.get(page).content.decode()
    form = {
        "first": setups["Good"],
        "claim": "as_good",
        "second": setups["Noise"],
        "question": "coherence",
        "level": "pooled",
        "coefficient": "pearson",
        "language": "all",
        "note": "Kept.",
    }
    refused = client.post(page, form)
    assert refused.status_code == 422
    assert "Found 0, expected more than 0 and less than 1" in refused.content.decode()
    assert "Kept." in refused.content.decode()
    assert client.post(page, {**form, "margin": "0.02"}).status_code == 302
    [registered] = Preregistration.objects.all()
    assert (registered.claim, registered.margin, registered.level) == ("as_good", 0.02, "pooled")


def test_without_two_evaluators_the_form_says_what_to_do(client):
    project = make_project()
    client.force_login(make_member(project, "researcher"))
    shown = read_page(client, project, "preregistration_new")
    assert "Run two evaluators, or import their scores." in shown
    assert '<button class="button primary">Register' not in shown


def test_withdrawing_asks_for_a_reason(client, compared_at_length, researcher, setups):
    registered = register(compared_at_length, researcher, setups, "better", "Good", "Noise")
    page = reverse("preregistration_withdraw", args=[compared_at_length.slug, registered.pk])
    assert "Good is better than Noise on Coherence (Kendall" in client.get(page).content.decode()
    assert client.post(page).status_code == 422
    assert client.post(page, {"reason": "Wrong pair."}).status_code == 302
    assert "Wrong pair." in read_page(client, compared_at_length)


def test_file_and_api_have_the_rows_of_the_page(client, compared_at_length, researcher, setups):
    register(compared_at_length, researcher, setups, "equivalent", "Good", "Also good", margin=0.3)
    [row] = rows(compared_at_length)
    [listed] = client.get(f"/api/projects/{compared_at_length.slug}/preregistrations/").json()["results"]
    stated = row.as_json()
    assert {**listed, "registered_at": ""} == {**stated, "registered_at": ""}
    text = client.get(reverse("preregistrations_csv", args=[compared_at_length.slug])).content.decode()
    [line] = csv.DictReader(text.splitlines())
    assert line["statement"] == stated["statement"]
    assert float(line["p_value"]) == stated["p_value"]


def test_readers_of_published_results_see_them_but_cannot_register(
    client, compared_at_length, researcher, setups
):
    register(compared_at_length, researcher, setups, "better", "Good", "Noise")
    compared_at_length.results_published_at = timezone.now()
    compared_at_length.save()
    client.logout()
    shown = read_page(client, compared_at_length)
    assert "Good is better than Noise" in shown
    assert "Preregister a comparison" not in shown
    assert "Withdraw" not in shown
