"""The page of evaluators across projects and its files."""

import csv
import io
import json
import threading
import time
from xml.etree import ElementTree as ET

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation import protocol
from annotation.models import Membership
from metaeval.across_projects.data_sets import AcrossChoices, with_questions
from metaeval.across_projects.page import page_now
from metaeval.live.background import LONG, Key
from metaeval.templatetags.results import figure
from tests.metaeval.across_projects.conftest import make_data_set

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


def address(project, url_name="across_projects", /, **named):
    return reverse(url_name, kwargs={"slug": project.slug, **named})


def get(client, project, query=None, **headers):
    answer = client.get(address(project), query or {}, **headers)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def rows_of(client, project, query=None):
    answer = client.get(address(project, "across_projects_table", kind="csv"), query or {})
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_page_shows_each_project_and_the_mean_over_them(reader, data_sets):
    text = get(reader, data_sets[0], {"other": "stories"})
    rows = rows_of(reader, data_sets[0], {"other": "stories"})

    assert [row["data_set"] for row in rows] == ["News", "Stories", "mean"] * 2
    for row in rows:
        assert f"<b>{figure(float(row['value']))}" in text
    assert "Differences between data sets" in text
    assert "Good: length" not in text
    assert "News (question" in text
    assert "ratings still come in for News, Stories" in text


def test_cell_leads_to_the_same_figure_in_its_project(reader, data_sets):
    text = get(reader, data_sets[0], {"other": "stories", "level": "article"})
    start = text.index('href="/projects/stories/comparison/?evaluator=')
    link = text[start + 6 : text.index('"', start + 6)].replace("&amp;", "&")

    row = rows_of(reader, data_sets[0], {"other": "stories", "level": "article"})[1]
    assert figure(float(row["value"])) in reader.get(link).content.decode()


def test_project_alone_has_no_mean_and_says_what_to_do(reader, data_sets):
    text = get(reader, data_sets[0])

    assert "Pick one or more other projects" in text
    assert "fewer than two data sets" in text
    assert 'value="stories"' in text


def test_projects_without_a_question_in_common_ask_for_one_each(reader, data_sets):
    votes = make_data_set("Votes", 4, protocol.SEAHORSE)
    user = User.objects.get(pk=reader.session["_auth_user_id"])
    Membership.objects.create(project=votes, user=user, role="researcher")
    key = protocol.SEAHORSE.questions[0].key

    text = get(reader, data_sets[0], {"other": "votes"})
    chosen = get(reader, data_sets[0], {"other": "votes", "question": ["news:coherence", f"votes:{key}"]})

    assert "No question in common" in text
    assert "No question in common" not in chosen
    assert "Differences between data sets" in chosen


def test_page_polls_until_any_of_the_projects_changes(reader, data_sets):
    first, second = data_sets
    query = {"other": "stories", "revision": f"{first.revision}.{second.revision}"}

    assert reader.get(address(first), query, **HTMX).status_code == 204

    second.bump_revision()
    parts = reader.get(address(first), query, **HTMX).content.decode()
    assert 'id="numbers" hx-swap-oob' in parts
    second.refresh_from_db()
    assert f'value="{first.revision}.{second.revision}"' in parts


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"other": "secret"}, "found &#x27;secret&#x27;"),
        ({"question": "beauty"}, "news asks coherence"),
        ({"by": "week"}, "by: found"),
        ({"level": "word"}, "level: found"),
    ],
)
def test_choice_that_does_not_exist_is_refused(reader, data_sets, secret, query, words):
    answer = reader.get(address(data_sets[0]), query)

    assert answer.status_code == 400
    assert words in answer.content.decode()


def test_tables_and_chart_are_files(reader, data_sets):
    query = {"other": "stories"}
    latex = reader.get(address(data_sets[0], "across_projects_table", kind="tex"), query).content.decode()
    svg = reader.get(
        address(data_sets[0], "across_projects_figure", name="data-sets", kind="svg"), query
    ).content.decode()
    numbers = reader.get(
        address(data_sets[0], "across_projects_figure", name="data-sets", kind="csv"), query
    ).content.decode()

    assert "News & Stories & Mean" in latex
    assert "Paule" in latex
    assert ET.fromstring(svg).tag.endswith("svg")
    assert [row["name"] for row in csv.DictReader(io.StringIO(numbers))] == ["News", "Stories", "Mean"]


def test_api_has_the_same_rows(reader, data_sets):
    answer = reader.get(address(data_sets[0], "api_across_projects"), {"other": "stories"}).json()
    rows = rows_of(reader, data_sets[0], {"other": "stories"})

    assert answer["count"] == 6
    assert answer["projects"] == [
        {"slug": "news", "revision": data_sets[0].revision, "question": "coherence"},
        {"slug": "stories", "revision": data_sets[1].revision, "question": "coherence"},
    ]
    assert [row["value"] for row in answer["results"]] == [float(row["value"]) for row in rows]
    assert json.dumps(answer["results"][2]["differences"])


def test_api_refuses_projects_of_others(reader, data_sets, secret):
    answer = reader.get(address(data_sets[0], "api_across_projects"), {"other": "secret"})

    assert answer.status_code == 400
    assert "found 'secret'" in answer.json()["detail"]


@pytest.mark.django_db(transaction=True)
def test_page_waits_once_and_not_for_each_data_set(reader, data_sets):
    for project in data_sets:
        for place, article in enumerate(project.articles.order_by("pk")):
            article.dataset = f"part {place % 2}"
            article.save()
        project.bump_revision()
    user = User.objects.get(pk=reader.session["_auth_user_id"])
    chosen = with_questions(data_sets, ())
    go = threading.Event()
    LONG.ready_or_start(Key(0, 0, "in the way of all others"), lambda: go.wait(60), 0)
    begun = time.monotonic()

    page = page_now(user, chosen, AcrossChoices(by="dataset"), wait_s=1)

    assert page.waits == 4
    assert time.monotonic() - begun < 3
    go.set()
    assert page_now(user, chosen, AcrossChoices(by="dataset"), wait_s=None).waits == 0
