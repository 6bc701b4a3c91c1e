"""The systems page and its files."""

import csv
import io

import pytest
from django.urls import reverse

from annotation import protocol
from annotation.models import Project, Summary
from annotation.projects.closing import close_campaign
from scoring.models import SeenArticle
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

PAYLOAD = "<script>alert('x')</script>\"&"
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def judged(project):
    """Return a project with six articles by two systems, partly rated, scored by two evaluators."""
    summaries = make_summaries(project, [f"article {place}" for place in range(6)], ["good", "poor"])
    rater = make_rater(project)
    for place, summary in enumerate(summaries[:8]):
        rate(summary, rater, coherence=str(3 + place % 3 if place % 2 == 0 else 1 + place % 2), fluency="3")
    values = {summary: float(place % 5) for place, summary in enumerate(summaries)}
    score(make_setup(project, "ROUGE-1"), values)
    score(make_setup(project, "Reading ease"), values, "fluency")
    return project


def get_page(client, project, query=None, **headers):
    answer = client.get(reverse("systems", args=[project.slug]), query or {}, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def csv_rows(client, project, name, **query):
    answer = client.get(reverse("systems_table", args=[project.slug, name, "csv"]), query)
    assert answer["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_lengths_and_copying_are_a_table_and_a_file(researcher, judged):
    Summary.objects.filter(system__name="poor").update(text="The text of")
    judged.bump_revision()
    assert "ROUGE-L with article" in get_page(researcher, judged)
    rows = {(row["system"], row["what"]): row for row in csv_rows(researcher, judged, "texts")}
    assert {what: rows["poor", what]["value"] for what in ("summaries", "length", "copied")} == {
        "summaries": "6",
        "length": "11",
        "copied": "1.0",
    }
    chosen = csv_rows(researcher, judged, "texts", systems="good")
    assert {row["system"] for row in chosen} == {"good"}
    printed = researcher.get(reverse("systems_table", args=[judged.slug, "texts", "tex"])).content.decode()
    assert "Summaries & Median length & ROUGE-L with article & 20\\% copy" in printed


def test_systems_have_mean_labels_with_best_and_worst_marked(researcher, judged):
    shown = get_page(researcher, judged)
    good, poor = (shown.index(f"<span>{name}</span>") for name in ("good", "poor"))
    assert good < poor
    assert "best in its column" in shown[good:poor]
    assert "worst in its column" in shown[poor:]
    assert "all values are equal" in shown  # fluency is always 3


def test_scores_support_the_means_on_request(researcher, judged):
    key = str(judged.setups.get(label="ROUGE-1").pk)
    assert "with scores" not in get_page(researcher, judged)
    shown = get_page(researcher, judged, {"evaluator": key})
    assert "with the scores of ROUGE-1" in shown
    assert "n 4 + 2" in shown
    found = csv_rows(researcher, judged, "labels", evaluator=key)
    powered = [row for row in found if row["source"] == "labels and scores"]
    assert {row["evaluator"] for row in powered} == {"ROUGE-1"}
    assert (powered[0]["labelled"], powered[0]["scored_only"]) == ("4", "2")


def test_labels_keep_the_articles_that_an_evaluator_has_seen(researcher, judged):
    before = csv_rows(researcher, judged, "labels")
    setup = judged.setups.get(label="ROUGE-1")
    SeenArticle.objects.create(setup=setup, article=judged.articles.order_by("pk")[0], role="example")
    judged.bump_revision()
    assert csv_rows(researcher, judged, "labels") == before
    assert "lose those that it has seen: 1 article seen by ROUGE-1." in " ".join(
        get_page(researcher, judged).split()
    )
    found = csv_rows(researcher, judged, "scores", question="coherence")
    assert {row["scored_only"] for row in found if row["evaluator"] == "ROUGE-1"} == {"5"}


def test_the_score_table_shows_the_chosen_dimension(researcher, judged):
    assert '<th scope="col">Reading ease</th>' not in get_page(researcher, judged, {"question": "coherence"})
    assert '<th scope="col">Reading ease</th>' in get_page(researcher, judged, {"question": "fluency"})
    found = csv_rows(researcher, judged, "scores", question="fluency")
    assert [row["evaluator"] for row in found[::2]] == ["", "ROUGE-1", "Reading ease"]
    assert {row["source"] for row in found} == {"labels", "scores"}


def test_both_tables_can_be_printed(researcher, judged):
    judged.setups.filter(label="ROUGE-1").update(label="ROUGE_1")
    judged.systems.filter(name="good").update(name="good & better")
    judged.bump_revision()
    key = str(judged.setups.get(label="ROUGE_1").pk)
    query = {"evaluator": key, "question": "fluency"}
    for name in ("labels", "scores"):
        rows = csv_rows(researcher, judged, name, **query)
        tex, markdown = (
            researcher.get(reverse("systems_table", args=[judged.slug, name, kind]), query).content.decode()
            for kind in ("tex", "md")
        )
        assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") > 0
        assert r"good \& better & " in tex
        assert tex.count(r"good \& better & ") == tex.count(r"\begin{tabular}")
        for row in rows:
            value = f"{float(row['value']):.3f}" if row["value"] else "undefined"
            assert value in tex
            assert value in markdown
        best = next(row for row in rows if row["is_best"] == "True")
        assert f"{{{float(best['value']):.3f}}}" in tex
        assert f"**{float(best['value']):.3f}**" in markdown
        heads = {"labels": ["Coherence", r"Coherence, with ROUGE\_1"], "scores": ["People", r"ROUGE\_1"]}[
            name
        ]
        assert all(f" & {head} " in tex and f" | {head} " in markdown for head in heads)


def test_the_page_links_its_files(researcher, judged):
    shown = get_page(researcher, judged, {"labels": "majority"})
    for name in ("labels", "scores"):
        for kind in ("csv", "tex", "md"):
            file = reverse("systems_table", args=[judged.slug, name, kind])
            assert f'{file}?labels=majority"' in shown
    for name, kind in (("labels", "pdf"), ("ratings", "csv")):
        assert researcher.get(reverse("systems_table", args=[judged.slug, name, kind])).status_code == 404


def test_the_page_shows_the_values_of_its_csv(researcher, judged):
    shown = get_page(researcher, judged)
    for row in csv_rows(researcher, judged, "labels"):
        if row["value"]:
            assert f"{float(row['value']):.3f}".removeprefix("0") in shown


def test_the_page_links_back_with_its_choices(researcher, judged):
    shown = get_page(researcher, judged, {"labels": "majority"})
    assert f"{reverse('comparison', args=[judged.slug])}?labels=majority" in shown


def test_polling_returns_204_or_replaces_existing_elements(researcher, judged):
    address = reverse("systems", args=[judged.slug])
    revision = Project.objects.get(pk=judged.pk).revision
    assert researcher.get(address, {"revision": revision}, **HTMX).status_code == 204
    rate(make_summary(judged), make_rater(judged), coherence="1", fluency="1")
    fragment = get_page(researcher, judged, {"revision": revision}, **HTMX)
    assert "<html" not in fragment
    assert "9 ratings" in fragment
    whole = get_page(researcher, judged)
    for identifier in ("pages", "lede", "status", "numbers", "notes", "how", "scores", "score-notes"):
        assert f'id="{identifier}" hx-swap-oob' in fragment
        assert whole.count(f'id="{identifier}"') == 1


def test_an_empty_project_explains_the_next_step(client, project):
    client.force_login(make_member(project, "manager"))
    shown = get_page(client, project)
    assert "No ratings yet" in shown
    assert "No scores yet" in shown
    assert reverse("imports", args=[project.slug]) in shown


def test_names_are_escaped(researcher, project):
    for summary in make_summaries(project, ["x", "y"], [PAYLOAD]):
        rate(summary, make_rater(project), coherence="3")
        score(make_setup(project, PAYLOAD + str(summary.pk)), {summary: 1.0})
    assert "<script>alert" not in get_page(researcher, project)


@pytest.mark.parametrize("query", [{"evaluator": "0"}, {"labels": "median"}, {"language": "xx"}])
def test_unknown_choices_are_refused(researcher, judged, query):
    assert researcher.get(reverse("systems", args=[judged.slug]), query).status_code == 400


def test_intervals_hold_at_every_look_until_the_campaign_is_closed(client, compared_at_length):
    client.force_login(make_member(compared_at_length, "researcher"))

    def widths(**query):
        rows = csv_rows(client, compared_at_length, "labels", **query)
        return [float(row["high"]) - float(row["low"]) for row in rows if row["dimension"] == "coherence"]

    live, one_look = widths(), widths(interval="one_look")
    assert all(wide > narrow for wide, narrow in zip(live, one_look, strict=True))
    shown = get_page(client, compared_at_length)
    assert "Intervals hold however often you look while ratings come in." in " ".join(shown.split())
    close_campaign(compared_at_length, make_member(compared_at_length, "manager"))
    assert widths() == one_look
