"""The page of an evaluator card: what it shows, its file, its empty states."""

import csv
import io
import re

import pytest
from django.urls import reverse

from annotation import protocol
from annotation.actions.projects import store_questionnaire
from metaeval.card import evaluator_card
from metaeval.templatetags.results import figure
from scoring.models import EvaluatorSetup
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.carded_projects import make_carded_project
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

HTMX = {"HTTP_HX_REQUEST": "true"}
PAYLOAD = "<script>alert('x')</script>\"&"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch):
    monkeypatch.setattr(evaluator_card, "RESAMPLES", 60)


@pytest.fixture
def carded():
    return make_carded_project()


@pytest.fixture
def reader(client, carded):
    client.force_login(make_member(carded, "researcher"))
    return client


def address(project, name="evaluator_card"):
    return reverse(name, args=[project.slug])


def shown(answer):
    """The page's text, without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_the_page_shows_the_numbers_of_its_file(reader, carded):
    answer = reader.get(address(carded))
    assert answer.status_code == 200
    text = shown(answer)
    file = reader.get(address(carded, "evaluator_card_table"))
    assert file["Content-Disposition"].endswith('-evaluator-card.csv"')
    rows = {row["measure"]: row for row in csv.DictReader(io.StringIO(file.content.decode(), newline=""))}
    for measure in (
        "spearman, pooled",
        "spearman, pooled, of summary length",
        "evaluator less summary length",
        "Cohen's kappa, out of fold",
        "partial correlation with summary length",
        "bias",
        "calibration error",
    ):
        assert figure(float(rows[measure]["value"])) in text, measure
    for finding in answer.context["page"].findings:
        assert finding.question in text
        assert rows[finding.question]["text"] == f"{finding.answer}: {finding.said}"


def test_every_card_says_how_it_was_computed(reader, carded):
    text = shown(reader.get(address(carded)))
    assert "judged out of fold" in text
    assert "Human label: the mean over raters in good standing" in text
    assert "Partial Spearman correlation" in text
    assert "Alternative annotator test (Calderon" in text


def test_its_charts_are_drawn_and_are_files(reader, carded):
    answer = reader.get(address(carded))
    charts = answer.context["page"].charts
    assert [each.name for each in charts] == ["card-agreement", "card-calibration", "card-systems"]
    for chart in charts:
        link = reverse("evaluator_card_figure", args=[carded.slug, chart.name, "csv"])
        assert f'href="{link}' in answer.content.decode()
        file = reader.get(link)
        assert list(csv.DictReader(io.StringIO(file.content.decode(), newline="")))
    assert answer.content.decode().count('<svg class="chart ') == len(charts)


def test_the_choices_stand_in_the_address_and_in_the_links(reader, carded):
    longest = EvaluatorSetup.objects.get(label="Longest")
    chosen = f"?evaluator={longest.pk}&question=coherence&labels=majority"
    page = reader.get(address(carded) + chosen)
    assert f'<option value="{longest.pk}" selected>' in page.content.decode()
    assert "the answer given most often" in shown(page)
    assert address(carded, "evaluator_card_table") + chosen.replace("&", "&amp;") in page.content.decode()


def test_there_are_no_news_until_something_changes(reader, carded):
    revision = reader.get(address(carded)).context["page"].snapshot.revision
    assert reader.get(address(carded), {"revision": revision}, **HTMX).status_code == 204
    carded.bump_revision()
    news = reader.get(address(carded), {"revision": revision}, **HTMX)
    assert news.status_code == 200
    assert "<html" not in news.content.decode()
    assert "In short" in news.content.decode()


def test_an_evaluator_that_does_not_score_the_question_says_so(reader, carded):
    silent = EvaluatorSetup.objects.get(label="Silent")
    text = shown(reader.get(address(carded), {"evaluator": silent.pk, "question": "coherence"}))
    assert "Silent has no score on the dimension of Coherence" in text
    assert "All numbers as CSV" not in text


def test_without_scores_the_page_says_what_to_do_next(client):
    project = make_project(protocol.SUMMEVAL)
    client.force_login(make_member(project, "researcher"))
    assert "No scores yet" in shown(client.get(address(project)))
    assert client.get(address(project, "evaluator_card_table")).status_code == 200


def test_one_rated_summary_makes_a_page_of_reasons(client):
    project = make_project(protocol.SUMMEVAL)
    (summary,) = make_summaries(project, ["only"], ["a"])
    rate(summary, make_rater(project), coherence="4")
    score(make_setup(project, "ROUGE-1"), {summary: 0.5})
    client.force_login(make_member(project, "researcher"))
    answer = client.get(address(project))
    assert answer.status_code == 200
    text = shown(answer)
    assert "fewer than two pairs of label and score" in text
    assert "fewer than 5 articles" in text
    assert "nan" not in text.lower().split()


def test_a_scale_without_ends_has_no_threshold_and_no_level(client):
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
    text = shown(client.get(address(project)))
    assert "no middle to cut labels at" in text
    assert "Shift of level not applicable: the question&#x27;s scale has no ends" in text
    assert "Summary length cannot be compared: all scores equal" in text


@pytest.mark.parametrize("wrong", [{"evaluator": "0"}, {"language": "xx"}, {"labels": "x"}])
def test_a_choice_that_does_not_exist_is_refused(reader, carded, wrong):
    answer = reader.get(address(carded), wrong)
    assert answer.status_code == 400
    assert "expected one of" in answer.content.decode()


def test_names_are_escaped(reader, carded):
    EvaluatorSetup.objects.filter(label="Judge").update(label=f"A{PAYLOAD}")
    carded.systems.filter(name="a").update(name=PAYLOAD)
    carded.bump_revision()
    assert "<script>alert" not in reader.get(address(carded)).content.decode()
