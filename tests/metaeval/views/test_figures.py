"""Charts as files, through their addresses: what the page shows, under names that say what they are."""

import csv
import io
import re
from html import unescape
from xml.etree import ElementTree as ET

import pytest
from django.urls import reverse
from django.utils.html import escape

from annotation import protocol
from metaeval.export.chart import Chart
from tests.factories import make_member, make_project
from tests.metaeval.rated_projects import make_setup, score

FAST = {"interval": "none", "test": "none"}
STARTS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF-"}


def figure(project, name, kind, page="metaeval"):
    return reverse(f"{page}_figure", args=[project.slug, name, kind])


@pytest.mark.parametrize("kind", Chart.kinds)
@pytest.mark.parametrize("page", ["metaeval", "agreement"])
def test_every_chart_of_a_page_links_to_its_files_with_the_choices(researcher, project, page, kind):
    chosen = "?question=fluency"
    if page == "metaeval":
        chosen = f"?interval=none&test=none&evaluator={project.setups.get().pk}&question=fluency"
    answer = researcher.get(reverse(page, args=[project.slug]) + chosen)
    charts = answer.context["page"].charts
    assert charts
    for chart in charts:
        address = figure(project, chart.name, kind, page) + chosen
        assert f'href="{escape(address)}"' in answer.content.decode()
        file = researcher.get(address)
        assert file.status_code == 200
        assert file.content.startswith(STARTS.get(kind, b""))
        assert "fluency" in file["Content-Disposition"]
        assert file["Content-Disposition"].endswith(f'{chart.name}.{kind}"')


def test_the_numbers_behind_the_scatter_are_the_summaries_labels_and_scores(researcher, project):
    answer = researcher.get(figure(project, "scatter", "csv"), {**FAST, "question": "coherence"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert [(float(row["label"]), float(row["score"])) for row in rows] == [
        (1, 1), (2, 3), (3, 2), (4, 2), (5, 4), (5, 6),
    ]  # fmt: skip
    assert {row["summary"] for row in rows} == {
        str(pk) for pk in project.summaries.values_list("pk", flat=True)
    }


def test_a_drawing_says_what_was_left_out(researcher, project):
    svg = ET.fromstring(researcher.get(figure(project, "scatter", "svg"), FAST).content)
    told = svg.find("{http://www.w3.org/2000/svg}desc").text
    assert "6 summaries" in told
    assert "Articles that any of the compared evaluators has seen" in told


def test_the_answers_come_with_their_counts(researcher, project):
    answer = researcher.get(figure(project, "answers", "csv", "agreement"), {"question": "fluency"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert {row["answer"]: row["ratings"] for row in rows} == dict(zip("12345", "11112", strict=True))


@pytest.mark.parametrize("wrong", [("scatter", "gif"), ("no-such", "svg")])
def test_what_does_not_exist_is_not_found(researcher, project, wrong):
    assert researcher.get(figure(project, *wrong)).status_code == 404


def test_a_page_with_nothing_to_draw_has_no_figures(client, db):
    project = make_project(protocol.SUMMEVAL)
    client.force_login(make_member(project, "researcher"))
    assert client.get(figure(project, "scatter", "svg")).status_code == 404


def test_all_evaluators_on_the_dimension_stand_beside_each_other(researcher, project):
    answer = researcher.get(figure(project, "evaluators", "csv"), {**FAST, "question": "coherence"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert [(row["evaluator"], row["dimension"]) for row in rows] == [("ROUGE-1", "coherence")]


def test_scores_beyond_the_labels_scale_have_a_chart_of_their_own(researcher, project):
    names = [
        chart.name
        for chart in researcher.get(reverse("metaeval", args=[project.slug])).context["page"].charts
    ]
    assert names == ["scatter", "labels", "scores", "evaluators"]


def test_scores_on_the_labels_scale_stand_on_its_axis(researcher, project):
    summaries = list(project.summaries.order_by("pk"))
    score(make_setup(project, "A"), dict(zip(summaries, [1.0, 3, 2, 2, 4, 5], strict=True)))
    page = researcher.get(reverse("metaeval", args=[project.slug]), FAST).context["page"]
    assert [chart.name for chart in page.charts] == ["scatter", "distributions", "evaluators"]
    answer = researcher.get(figure(project, "distributions", "csv"), FAST)
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    for of in ("labels", "scores"):
        assert sum(int(row["summaries"]) for row in rows if row["of"] == of) == 6


def test_the_scatter_leads_to_summaries_on_the_page_and_nowhere_in_a_file(researcher, project):
    page = researcher.get(reverse("metaeval", args=[project.slug]), FAST).content.decode()
    assert 'href="summaries/?' in page
    first = project.summaries.order_by("pk").first()
    assert f'href="../summaries/{first.pk}/"' in page
    assert "href" not in researcher.get(figure(project, "scatter", "svg"), FAST).content.decode()


def test_a_tile_of_the_scatter_leads_to_as_many_summaries_as_it_says(researcher, project):
    here = reverse("metaeval", args=[project.slug])
    drawn = researcher.get(here, FAST).content.decode()
    tiles = re.findall(r'<a class="tile" href="([^"]+)" aria-label="[^"]+: (\d+) summar', drawn)
    assert tiles
    for link, times in tiles:
        listed = researcher.get(here + unescape(link))
        assert listed.status_code == 200
        assert listed.context["page"].paginator.count == int(times)
