"""Downloads of the charts on the comparison and agreement pages."""

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


def figure_address(rated_project, name, kind, page="comparison"):
    return reverse(f"{page}_figure", args=[rated_project.slug, name, kind])


@pytest.mark.parametrize("kind", Chart.kinds)
@pytest.mark.parametrize("page", ["comparison", "agreement"])
def test_every_chart_links_to_its_files_with_the_current_choices(
    rated_project_reader, rated_project, page, kind
):
    chosen = "?question=fluency"
    if page == "comparison":
        chosen = f"?interval=none&test=none&evaluator={rated_project.setups.get().pk}&question=fluency"
    answer = rated_project_reader.get(reverse(page, args=[rated_project.slug]) + chosen)
    charts = answer.context["page"].charts
    assert charts
    for chart in charts:
        address = figure_address(rated_project, chart.name, kind, page) + chosen
        assert f'href="{escape(address)}"' in answer.content.decode()
        file = rated_project_reader.get(address)
        assert file.status_code == 200
        assert file.content.startswith(STARTS.get(kind, b""))
        assert "fluency" in file["Content-Disposition"]
        assert file["Content-Disposition"].endswith(f'{chart.name}.{kind}"')


def test_the_scatter_csv_lists_labels_and_scores_of_summaries(rated_project_reader, rated_project):
    answer = rated_project_reader.get(
        figure_address(rated_project, "scatter", "csv"), {**FAST, "question": "coherence"}
    )
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert [(float(row["label"]), float(row["score"])) for row in rows] == [
        (1, 1), (2, 3), (3, 2), (4, 2), (5, 4), (5, 6),
    ]  # fmt: skip
    named = rated_project.summaries.order_by("pk").values_list("article__external_id", "system__name")
    assert [(row["article"], row["system"]) for row in rows] == list(named)


def test_a_downloaded_drawing_states_its_exclusions(rated_project_reader, rated_project):
    svg = ET.fromstring(
        rated_project_reader.get(figure_address(rated_project, "scatter", "svg"), FAST).content
    )
    told = svg.find("{http://www.w3.org/2000/svg}desc").text
    assert "6 summaries" in told
    assert "Articles that an evaluator has seen" in told


def test_the_answers_csv_lists_counts(rated_project_reader, rated_project):
    answer = rated_project_reader.get(
        figure_address(rated_project, "answers", "csv", "agreement"), {"question": "fluency"}
    )
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert {row["answer"]: row["ratings"] for row in rows} == dict(zip("12345", "11112", strict=True))


@pytest.mark.parametrize("wrong", [("scatter", "gif"), ("no-such", "svg")])
def test_unknown_charts_and_formats_are_not_found(rated_project_reader, rated_project, wrong):
    assert rated_project_reader.get(figure_address(rated_project, *wrong)).status_code == 404


def test_an_empty_project_has_no_charts_to_download(client, db):
    project = make_project(protocol.SUMMEVAL)
    client.force_login(make_member(project, "researcher"))
    assert client.get(figure_address(project, "scatter", "svg")).status_code == 404


def test_the_evaluators_csv_lists_all_evaluators_on_the_dimension(rated_project_reader, rated_project):
    answer = rated_project_reader.get(
        figure_address(rated_project, "evaluators", "csv"), {**FAST, "question": "coherence"}
    )
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert [(row["evaluator"], row["dimension"]) for row in rows] == [("ROUGE-1", "coherence")]


def test_scores_outside_the_labels_scale_get_a_separate_histogram(rated_project_reader, rated_project):
    names = [
        chart.name
        for chart in rated_project_reader.get(reverse("comparison", args=[rated_project.slug]))
        .context["page"]
        .charts
    ]
    assert names == ["scatter", "labels", "scores", "evaluators"]


def test_scores_on_the_labels_scale_share_its_axis(rated_project_reader, rated_project):
    summaries = list(rated_project.summaries.order_by("pk"))
    score(make_setup(rated_project, "A"), dict(zip(summaries, [1.0, 3, 2, 2, 4, 5], strict=True)))
    page = rated_project_reader.get(reverse("comparison", args=[rated_project.slug]), FAST).context["page"]
    assert [chart.name for chart in page.charts] == ["scatter", "distributions", "evaluators"]
    answer = rated_project_reader.get(figure_address(rated_project, "distributions", "csv"), FAST)
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    for of in ("labels", "scores"):
        assert sum(int(row["summaries"]) for row in rows if row["of"] == of) == 6


def test_the_scatter_links_to_summaries_on_the_page_but_not_in_files(rated_project_reader, rated_project):
    page = rated_project_reader.get(reverse("comparison", args=[rated_project.slug]), FAST).content.decode()
    assert 'href="summaries/?' in page
    first = rated_project.summaries.order_by("pk").first()
    assert f'href="../summaries/{first.pk}/"' in page
    assert (
        "href"
        not in rated_project_reader.get(
            figure_address(rated_project, "scatter", "svg"), FAST
        ).content.decode()
    )


def test_a_scatter_tile_lists_as_many_summaries_as_it_states(rated_project_reader, rated_project):
    here = reverse("comparison", args=[rated_project.slug])
    drawn = rated_project_reader.get(here, FAST).content.decode()
    tiles = re.findall(r'<a class="tile" href="([^"]+)" aria-label="[^"]+: (\d+) summar', drawn)
    assert tiles
    for link, times in tiles:
        listed = rated_project_reader.get(here + unescape(link))
        assert listed.status_code == 200
        assert listed.context["page"].paginator.count == int(times)
