"""Rating by the API with a token, as a page of a lab's own would."""

import json

import pytest
from django.test import Client

from annotation.models import Answer, ApiToken, Assignment, Rating
from annotation.people.api_tokens import issue_api_token
from tests.annotation.rating.rating_steps import FIRST, SECOND, THIRD
from tests.factories import make_gold, make_project, make_rater, make_summary, publish_guidelines

pytestmark = pytest.mark.django_db


class Caller:
    """A program that rates with a token."""

    def __init__(self, user, project, scope=ApiToken.Scope.RATE):
        self.token = issue_api_token(user, "our page", scope=scope)[1]
        self.base = f"/api/projects/{project.slug}/"

    def send(self, method, path, body=""):
        headers = {"Authorization": f"Bearer {self.token}"}
        text = json.dumps(body) if isinstance(body, dict) else body
        return Client().generic(method, self.base + path, text, "application/json", headers=headers)

    def next(self, **body):
        return self.send("POST", "rating/next/", body)

    def submit(self, assignment, stage, answers, **more):
        given = {key: {"value": value} for key, value in answers.items()}
        return self.send("PUT", f"rating/{assignment}/stages/{stage}/", {"answers": given} | more)


@pytest.fixture
def caller(rater, project):
    return Caller(rater.user, project)


def test_a_summary_is_rated_stage_by_stage(caller, rater, project):
    summary = make_summary(project)
    item = caller.next().json()["item"]
    assert (item["summary"], item["article"], item["stage"]) == (summary.text, None, 1)
    assert [each["key"] for each in item["asked"]] == ["comprehensibility"]
    assert item["asked"][0]["values"] == ["yes", "no", "unsure"]
    number = item["assignment"]
    assert caller.next().json()["item"] == item

    second = caller.submit(number, 1, FIRST).json()["item"]
    assert [(each["key"], each["answer"]["value"]) for each in second["locked"]] == [
        ("comprehensibility", "yes")
    ]
    assert summary.article.text not in str(second)
    third = caller.submit(number, 2, SECOND).json()["item"]
    assert third["article"] == {"title": summary.article.title, "text": summary.article.text}
    assert caller.send("GET", f"rating/{number}/").json()["item"] == third

    for _ in range(2):
        last = caller.submit(number, 3, THIRD)
        assert last.json() == {"item": None, "reason": "The rating is finished."}
    rating = Rating.objects.get(rater=rater)
    assert rating.completed_at is not None
    assert Answer.objects.count() == 6
    assert caller.next().json() == {"item": None, "reason": "Nothing is left to rate at the moment."}


def test_a_comment_is_stored_and_a_locked_stage_stays(caller, project):
    make_summary(project)
    number = caller.next().json()["item"]["assignment"]
    body = {"answers": {"comprehensibility": {"value": "yes", "comment": "Hard to say."}}}
    assert caller.send("PUT", f"rating/{number}/stages/1/", body).status_code == 200
    assert Answer.objects.get().comment == "Hard to say."
    refused = caller.submit(number, 1, {"comprehensibility": "no"})
    assert (refused.status_code, "locked" in refused.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, "Answer this question."),
        ({"comprehensibility": "maybe"}, "found 'maybe'"),
        ({"comprehensibility": "yes", "grammar": "yes"}, "not part of the open stage"),
    ],
)
def test_invalid_answers_are_refused_by_question(caller, project, answers, message):
    make_summary(project)
    number = caller.next().json()["item"]["assignment"]
    refused = caller.submit(number, 1, answers)
    assert refused.status_code == 400
    assert any(message in told for told in refused.json()["questions"].values())
    assert not Answer.objects.exists()


def test_contradictory_answers_are_stored_once_their_rater_means_them(rater, project):
    type(project).objects.filter(pk=project.pk).update(contradiction_notice=True)
    caller = Caller(rater.user, project)
    make_summary(project)
    number = caller.next().json()["item"]["assignment"]
    caller.submit(number, 1, FIRST), caller.submit(number, 2, SECOND)
    doubtful = {"attribution": "yes", "main_ideas": "no", "conciseness": "yes"}
    refused = caller.submit(number, 3, doubtful)
    assert (refused.status_code, set(refused.json()["questions"])) == (409, {"main_ideas", "conciseness"})
    assert caller.submit(number, 3, doubtful, keep_contradictions=True).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("rating/next/", "[]", "expected a JSON object"),
        ("rating/next/", "{", "JSON parse error"),
        ("rating/next/", '{"langauge": "en"}', "unknown field 'langauge'; expected one of language"),
        ("rating/next/", '{"language": "tr"}', "'tr' is not one of your languages"),
    ],
)
def test_a_wrong_body_is_refused_with_its_field(caller, path, body, message):
    refused = caller.send("POST", path, body)
    assert refused.status_code == 400
    assert message in refused.json()["detail"]


def test_a_rater_of_several_languages_names_one_once():
    project = make_project()
    make_summary(project, language="de")
    caller = Caller(make_rater(project, languages=["de", "en"]).user, project)
    refused = caller.next()
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "language: missing; expected one of de, en",
    )
    assert caller.next(language="de").json()["item"]["language"] == "de"
    assert caller.next().json()["item"]["language"] == "de"


def test_a_trainee_rates_a_round_first():
    project = make_project()
    gold = make_gold(project, {"comprehensibility": "no"}).summary
    caller = Caller(make_rater(project, status="training").user, project)
    answer = caller.next().json()
    assert answer["item"] is None
    assert "Start one" in answer["reason"]
    started = caller.send("POST", "rating/rounds/").json()["item"]
    assert (started["summary"], started["in_gold_round"]) == (gold.text, True)
    assert caller.next().json()["item"] == started
    last = caller.submit(started["assignment"], 1, {"comprehensibility": "no"})
    assert last.json() == {"item": None, "reason": "The rating is finished."}
    assert caller.next().json()["reason"] == "Nothing is left to rate at the moment."


def test_guidelines_are_read_and_confirmed_first(caller, project):
    make_summary(project)
    version = publish_guidelines(project, text="Read *slowly*.")
    refused = caller.next()
    assert (refused.status_code, "confirm the guidelines" in refused.json()["detail"]) == (409, True)
    (shown,) = caller.send("GET", "rating/guidelines/").json()["versions"]
    assert (shown["text"], shown["languages"], shown["confirmed_at"]) == ("Read *slowly*.", ["en"], None)
    assert caller.send("POST", "rating/guidelines/", {"versions": [version.pk + 1]}).status_code == 400
    assert caller.next().status_code == 409
    assert caller.send("POST", "rating/guidelines/", {"versions": [shown["id"]]}).status_code == 200
    assert caller.next().json()["item"]["stage"] == 1


def test_a_skipped_summary_does_not_come_back(caller, project):
    make_summary(project)
    number = caller.next().json()["item"]["assignment"]
    assert caller.send("POST", f"rating/{number}/skip/", {"reason": "hard"}).status_code == 204
    assert Assignment.objects.get().state == Assignment.State.SKIPPED
    assert caller.next().json()["item"] is None


def test_each_token_does_only_what_it_is_for(rater, project):
    project.memberships.create(user=rater.user, role="researcher")
    reads, rates, manages = (Caller(rater.user, project, scope) for scope in ApiToken.Scope)
    make_summary(project)
    assert reads.send("GET", "").status_code == manages.send("GET", "").status_code == 200
    assert rates.next().status_code == 200
    for refused in (reads.next(), manages.next(), rates.send("GET", ""), rates.send("GET", "agreement/")):
        assert refused.status_code == 403
        assert "This token" in refused.json()["detail"]
