"""The evaluator card page, its files and its empty states."""

import csv
import io
import re

import pytest
from django.urls import reverse

from annotation import protocol
from annotation.projects.settings import store_questionnaire
from metaeval.card import evaluator_card
from metaeval.stats.rows import Resampling
from metaeval.templatetags.results import figure
from scoring.models import Setup
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.card_projects import make_card_project
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

HTMX = {"HTTP_HX_REQUEST": "true"}
PAYLOAD = "<script>alert('x')</script>\"&"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch):
    monkeypatch.setattr(evaluator_card, "RESAMPLING", Resampling(60))


@pytest.fixture
def card_project():
    return make_card_project()


@pytest.fixture
def reader(client, card_project):
    client.force_login(make_member(card_project, "researcher"))
    return client


def address(project, name="evaluator_card"):
    return reverse(name, args=[project.slug])


def file_address(project, kind="csv"):
    return reverse("evaluator_card_table", args=[project.slug, kind])


def text_of(answer):
    """Return the page's text without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_the_page_shows_the_values_of_its_csv(reader, card_project):
    answer = reader.get(address(card_project))
    assert answer.status_code == 200
    text = text_of(answer)
    file = reader.get(file_address(card_project))
    assert file["Content-Disposition"].endswith('-evaluator-card.csv"')
    rows = {row["measure"]: row for row in csv.DictReader(io.StringIO(file.content.decode(), newline=""))}
    for measure in (
        "spearman, pooled",
        "spearman, pooled, of summary length",
        "evaluator minus summary length",
        "Cohen's kappa, out of fold",
        "partial correlation with summary length",
        "bias",
        "calibration error",
    ):
        assert figure(float(rows[measure]["value"])) in text, measure
    for finding in answer.context["page"].findings:
        assert finding.question in text
        assert rows[finding.question]["text"] == f"{finding.answer}: {finding.said}"


@pytest.mark.parametrize(("kind", "separator"), [("tex", " & "), ("md", " | ")])
def test_the_card_can_be_printed(reader, card_project, kind, separator):
    Setup.objects.filter(label="Judge").update(label="Judge_1")
    card_project.bump_revision()
    page = reader.get(address(card_project)).context["page"]
    file = reader.get(file_address(card_project, kind))
    assert file["Content-Disposition"].endswith(f'-evaluator-card.{kind}"')
    text = file.content.decode()
    dot = {"tex": r"$\cdot$", "md": "·"}[kind]
    assert separator.join([f"Judge\\_1 {dot} Coherence", "Answer"]) in text
    for finding in page.findings:
        assert f"{finding.question}{separator}{finding.answer} " in text
    assert separator.join(["Agreement", "Value", "n"]) in text
    lines = text.splitlines()
    for row in page.rows:
        if row["section"] != "finding" and row["n"] is not None and "ε" not in row["measure"]:
            assert any(row["measure"] in line and f"{separator}{row['n']:,} " in line for line in lines)
    if kind == "tex":
        assert "ε" not in "".join(line for line in lines if not line.startswith("% "))


def test_the_card_warns_of_what_a_published_model_was_trained_on(reader, card_project):
    Setup.objects.filter(label="Judge").update(evaluator="unieval", params={"model": "MingZhong/unieval-sum"})
    assert "was trained on" not in text_of(reader.get(address(card_project)))
    card_project.articles.update(dataset="cnn_dailymail")
    card_project.bump_revision()
    assert "MingZhong/unieval-sum was trained on CNN/DailyMail" in text_of(reader.get(address(card_project)))


def test_every_card_explains_how_it_was_computed(reader, card_project):
    text = text_of(reader.get(address(card_project)))
    assert "judged out of fold" in text
    assert "Human label: the mean over raters in good standing" in text
    assert "Partial Spearman correlation" in text
    assert "Alternative annotator test (Calderon" in text


def test_each_chart_is_drawn_and_can_be_downloaded(reader, card_project):
    answer = reader.get(address(card_project))
    charts = answer.context["page"].charts
    assert [each.name for each in charts] == ["card-agreement", "card-calibration", "card-systems"]
    for chart in charts:
        link = reverse("evaluator_card_figure", args=[card_project.slug, chart.name, "csv"])
        assert f'href="{link}' in answer.content.decode()
        file = reader.get(link)
        assert list(csv.DictReader(io.StringIO(file.content.decode(), newline="")))
    assert answer.content.decode().count('<svg class="chart ') == len(charts)


def test_the_address_sets_the_choices_and_links_keep_them(reader, card_project):
    longest = Setup.objects.get(label="Longest")
    chosen = f"?evaluator={longest.pk}&question=coherence&labels=majority"
    page = reader.get(address(card_project) + chosen)
    assert f'<option value="{longest.pk}" selected>' in page.content.decode()
    assert "the answer given most often" in text_of(page)
    assert file_address(card_project) + chosen.replace("&", "&amp;") in page.content.decode()


def test_polling_returns_204_until_the_project_changes(reader, card_project):
    revision = reader.get(address(card_project)).context["page"].snapshot.revision
    assert reader.get(address(card_project), {"revision": revision}, **HTMX).status_code == 204
    card_project.bump_revision()
    news = reader.get(address(card_project), {"revision": revision}, **HTMX)
    assert news.status_code == 200
    assert "<html" not in news.content.decode()
    assert "Findings" in news.content.decode()


def test_an_evaluator_without_scores_on_the_question_says_so(reader, card_project):
    silent = Setup.objects.get(label="Silent")
    text = text_of(reader.get(address(card_project), {"evaluator": silent.pk, "question": "coherence"}))
    assert "Silent has no scores on Coherence" in text
    assert "There are no numbers yet." in text


def test_a_project_without_scores_explains_the_next_step(client):
    project = make_project(protocol.SUMMEVAL)
    client.force_login(make_member(project, "researcher"))
    assert "No scores yet" in text_of(client.get(address(project)))
    assert client.get(file_address(project)).status_code == 200


def test_a_single_rated_summary_shows_reasons_instead_of_values(client):
    project = make_project(protocol.SUMMEVAL)
    (summary,) = make_summaries(project, ["only"], ["a"])
    rate(summary, make_rater(project), coherence="4")
    score(make_setup(project, "ROUGE-1"), {summary: 0.5})
    client.force_login(make_member(project, "researcher"))
    answer = client.get(address(project))
    assert answer.status_code == 200
    text = text_of(answer)
    assert "fewer than two pairs of label and score" in text
    assert "fewer than 5 articles" in text
    assert "nan" not in text.lower().split()


def test_an_unbounded_scale_has_no_threshold_and_no_bias(client):
    scale = protocol.Scale(protocol.ScaleKind.INTERVAL)
    question = protocol.Question("quality", "quality", "Quality", "How good?", 1, scale)
    questionnaire = protocol.Questionnaire("no-ends", "Any number", ("All",), (question,))
    store_questionnaire(questionnaire)
    project = make_project(questionnaire)
    rater = make_rater(project)
    summaries = make_summaries(project, [f"article-{number}" for number in range(12)], ["a", "b"])
    for number, summary in enumerate(summaries):
        rate(summary, rater, quality=str(number * 1.5 - 7))
    score(make_setup(project, "Judge"), dict(zip(summaries, map(float, range(24)), strict=True)), "quality")
    client.force_login(make_member(project, "researcher"))
    text = text_of(client.get(address(project)))
    assert "labels cannot be split at its middle" in text
    assert "Not applicable: the question&#x27;s scale has no ends" in text
    assert "Summary length cannot be compared: all scores equal" in text


@pytest.mark.parametrize("wrong", [{"evaluator": "0"}, {"language": "xx"}, {"labels": "x"}])
def test_an_unknown_choice_is_refused(reader, card_project, wrong):
    answer = reader.get(address(card_project), wrong)
    assert answer.status_code == 400
    assert "expected one of" in answer.content.decode()


def test_names_are_escaped(reader, card_project):
    Setup.objects.filter(label="Judge").update(label=f"A{PAYLOAD}")
    card_project.systems.filter(name="a").update(name=PAYLOAD)
    card_project.bump_revision()
    assert "<script>alert" not in reader.get(address(card_project)).content.decode()
