"""Projects and labels in the API. Permissions are tested in tests/test_access_matrix.py."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from drf_spectacular.generators import SchemaGenerator

from annotation import protocol
from annotation.labels import human_labels
from annotation.models import Answer, AuditEntry, Question, Rating
from annotation.people.members import remove_rater
from annotation.projects.closing import close_campaign
from annotation.projects.settings import SETTINGS
from tests.factories import (
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
    make_user,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client, project):
    client.force_login(make_member(project, "researcher"))
    return client


def rate(summary, rater, **answers):
    now = timezone.now()
    rating = Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)
    for key, value in answers.items():
        question = Question.objects.get(questionnaire=summary.project.questionnaire, key=key)
        Answer.objects.create(
            rating=rating, question=question, value=value, comment="PRIVATE-COMMENT", created_at=now
        )
    return rating


def labels_of(client, project, **parameters):
    answer = client.get(f"/api/projects/{project.slug}/labels/", parameters)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_the_list_has_only_projects_that_the_user_manages_or_researches(client):
    user = make_user()
    managed, researched, rated = (make_project() for _ in range(3))
    make_project()
    managed.memberships.create(user=user, role="manager")
    researched.memberships.create(user=user, role="researcher")
    make_rater(rated, user=user)
    client.force_login(user)
    body = client.get("/api/projects/").json()
    assert {row["slug"] for row in body["results"]} == {managed.slug, researched.slug}
    assert body["count"] == 2


def test_a_project_gives_its_settings_questions_and_progress(researcher, project):
    project.licence = "mit"
    project.save()
    summary = make_summary(project, ratings_wanted=2)
    rate(summary, make_rater(project), comprehensibility="yes")
    body = researcher.get(f"/api/projects/{project.slug}/").json()
    assert body["questionnaire"] == "seahorse"
    assert body["licence"] == project.licence == "mit"
    assert [question["key"] for question in body["questions"]] == [
        question.key for question in protocol.SEAHORSE.questions
    ]
    assert body["questions"][0]["values"] == ["yes", "no", "unsure"]
    assert body["articles"] == 1
    assert body["progress"]["ratings"] == 1
    assert body["progress"]["wanted"] == 2
    assert [language["name"] for language in body["languages"]] == ["en"]
    assert body["revision"] == project.revision
    assert body["closed_at"] is None


def test_a_project_says_since_when_its_ratings_are_final(client, project):
    manager = make_member(project, "manager")
    client.force_login(manager)
    close_campaign(project, manager)
    body = client.get(f"/api/projects/{project.slug}/").json()
    assert parse_datetime(body["closed_at"]) == project.closed_at


@pytest.fixture
def change(client, manager, project):
    client.force_login(manager)
    return lambda **body: client.patch(f"/api/projects/{project.slug}/", body, "application/json")


def test_a_manager_changes_the_settings_that_are_sent(change, client, project):
    summary = make_summary(project)
    answer = change(redundancy=3, gold_thresholds={"grammar": 0.5}, name="Renamed")
    assert answer.status_code == 200
    settings = answer.json()
    assert set(settings) == set(SETTINGS)
    assert (settings["redundancy"], settings["gold_thresholds"], settings["lease_minutes"]) == (
        3,
        {"grammar": 0.5},
        project.lease_minutes,
    )
    summary.refresh_from_db()
    assert summary.ratings_wanted == 3
    assert client.get(f"/api/projects/{project.slug}/").json()["settings"] == settings
    entry = AuditEntry.objects.get(action="settings_changed")
    assert entry.details["redundancy"] == {"before": 1, "after": 3}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"redundancies": 2}, "unknown field 'redundancies'"),
        ({"slug": "another"}, "unknown field 'slug'"),
        ({"redundancy": 101}, "redundancy: Found 101, expected a number from 1 to 100."),
        ({"redundancy": None}, "redundancy: This field may not be null."),
        ({"name": " "}, "name: This field may not be blank."),
        ({"check_rate": "nan"}, "check_rate: A valid number is required."),
        ({"check_minimum": 30}, "check_minimum: Found 30, but only the last 20 hidden checks count."),
        ({"gold_thresholds": {"spelling": 0.5}}, "has no question spelling"),
        ({"gold_thresholds": {"grammar": 5}}, "gold_thresholds: "),
    ],
)
def test_invalid_settings_are_refused_by_name_and_nothing_is_changed(change, project, body, message):
    answer = change(daily_goal=7, **body)
    assert (answer.status_code, message in answer.json()["detail"]) == (400, True), answer.json()
    assert type(project).objects.get(pk=project.pk).daily_goal == project.daily_goal


def test_only_managers_see_settings_in_a_project(researcher, project):
    assert "settings" not in researcher.get(f"/api/projects/{project.slug}/").json()


def test_labels_equal_the_human_labels_and_count_the_ratings(researcher, project):
    summary = make_summary(project)
    for value in ("yes", "yes", "no", "unsure"):
        rate(summary, make_rater(project), attribution=value)
    body = labels_of(researcher, project)
    [row] = body["results"]
    assert row["article"] == summary.article.external_id
    assert row["system"] == summary.system.name
    question = Question.objects.get(questionnaire=project.questionnaire, key="attribution")
    assert row["labels"] == [
        {
            "question": "attribution",
            "dimension": "attribution",
            "value": human_labels(project, question)[summary.pk],
            "ratings": 4,
        }
    ]


def test_a_label_is_absent_with_its_reason_if_all_raters_are_unsure(researcher, project):
    rate(make_summary(project), make_rater(project), grammar="unsure")
    [label] = labels_of(researcher, project)["results"][0]["labels"]
    assert (label["value"], label["reason"], label["ratings"]) == (None, "all raters were unsure", 1)


def test_labels_leave_out_removed_raters_gold_and_unrated_summaries(researcher, project):
    rater = make_rater(project)
    rate(make_summary(project), rater, grammar="yes")
    make_summary(project)
    make_gold(project)
    assert labels_of(researcher, project)["count"] == 1
    revision = labels_of(researcher, project)["revision"]
    remove_rater(rater)
    body = labels_of(researcher, project)
    assert body["count"] == 0
    assert body["revision"] > revision


def test_labels_contain_no_rater_names_comments_or_texts(researcher, project):
    summary = make_summary(project, text="SUMMARY-TEXT", article=make_article(project, text="ARTICLE-TEXT"))
    rater = make_rater(project, user=make_user("jane-doe"), pseudonym="rater-99")
    rate(summary, rater, grammar="yes")
    answer = researcher.get(f"/api/projects/{project.slug}/labels/").content.decode()
    assert labels_of(researcher, project)["count"] == 1
    for hidden in ("jane-doe", "rater-99", "PRIVATE-COMMENT", "SUMMARY-TEXT", "ARTICLE-TEXT"):
        assert hidden not in answer


def test_labels_can_be_filtered_by_language_and_question(researcher, project):
    rater = make_rater(project)
    english, german = make_summary(project), make_summary(project, language="de")
    rate(english, rater, grammar="yes")
    rate(german, rater, grammar="no", repetition="yes")
    body = labels_of(researcher, project, language="de", question="grammar")
    [row] = body["results"]
    assert row["summary"] == german.pk
    assert [label["question"] for label in row["labels"]] == ["grammar"]
    assert labels_of(researcher, project, question="repetition")["count"] == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"language": "fr"}, "language: found 'fr', expected one of de, en"),
        ({"question": "beauty"}, "question: found 'beauty', expected one of comprehensibility, repetition"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "less than or equal to 1000"),
        ({"limit": "ten"}, "integer"),
        ({"limit": ""}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"offset": str(10**30)}, "offset"),
        ({"offset": "10001"}, "offset: found more than 10,000. For later rows, follow `next`"),
        ({"cursor": "ten"}, "cursor: expected one from `next` or `previous`"),
        ({"cursor": "ten", "offset": "1"}, "cursor: given with `offset`"),
        ({"question": "grammar\x00"}, "NUL character"),
        (
            {"langauge": "de"},
            "unknown parameter 'langauge'; expected one of limit, offset, cursor, language, question",
        ),
        ({"language": ["de", "en"]}, "language: given twice"),
        ({"project__slug": "other"}, "unknown parameter"),
        ({"rater__user__password__startswith": "p"}, "unknown parameter"),
        ({"ordering": "rating__rater__user__password"}, "unknown parameter"),
    ],
)
def test_invalid_and_unknown_parameters_are_refused(researcher, project, asked, said):
    make_summary(project)
    make_summary(project, language="de")
    answer = researcher.get(f"/api/projects/{project.slug}/labels/", asked)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_results_are_paginated_with_links_in_both_directions(researcher, project):
    rater = make_rater(project)
    summaries = [make_summary(project) for _ in range(5)]
    for summary in summaries:
        rate(summary, rater, grammar="yes")
    seen, address = [], f"/api/projects/{project.slug}/labels/?limit=2&question=grammar"
    pages = 0
    while address:
        body = researcher.get(address).json()
        assert body["count"] == 5
        assert len(body["results"]) <= 2
        seen += [row["summary"] for row in body["results"]]
        last, address, pages = body, body["next"], pages + 1
    assert seen == [summary.pk for summary in summaries]
    assert pages == 3
    assert "question=grammar" in last["previous"]
    assert [row["summary"] for row in researcher.get(last["previous"]).json()["results"]] == seen[2:4]


def test_ten_summaries_need_no_more_queries_than_two(researcher, project, django_assert_max_num_queries):
    rater = make_rater(project)
    for number in range(10):
        rate(make_summary(project, system=make_system(project, f"system-{number}")), rater, grammar="yes")
    with django_assert_max_num_queries(16):
        assert len(labels_of(researcher, project, limit=2)["results"]) == 2
    with django_assert_max_num_queries(16):
        assert len(labels_of(researcher, project, limit=10)["results"]) == 10


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options", "trace"])
@pytest.mark.parametrize("address", ["/api/projects/{slug}/labels/", "/api/projects/{slug}/scores/"])
def test_results_are_read_only(researcher, project, method, address):
    answer = getattr(researcher, method)(address.format(slug=project.slug))
    assert answer.status_code == 405
    assert set(answer["Allow"].split(", ")) <= {"GET", "HEAD", "OPTIONS"}


def test_the_schema_is_complete_and_valid():
    out, err = StringIO(), StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out, stderr=err)
    assert "/api/projects/{slug}/labels/" in out.getvalue()
    assert "scheme: bearer" in out.getvalue()


def test_every_address_and_parameter_is_documented():
    documented = (Path(__file__).resolve().parents[3] / "docs" / "api.md").read_text()
    schema = SchemaGenerator().get_schema(public=True)
    assert len(schema["paths"]) == 35
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            start = f"| `{path}` |" if method == "get" else f"| `{method.upper()} {path}` |"
            [line] = [line for line in documented.splitlines() if line.startswith(start)]
            asked = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
            assert {name for name in asked if f"`{name}`" in line} == asked - {"limit", "offset", "cursor"}, (
                path
            )


def test_the_schema_needs_a_sign_in(client):
    assert client.get("/api/schema/").status_code == 401
    client.force_login(make_user())
    assert b"openapi" in client.get("/api/schema/").content
