"""Every address x every role: what it answers, that a refusal changes nothing, and that nothing leaks.

TABLE is the rule; an address without a row fails the test.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie

import pytest
from django.contrib import admin
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from annotation.actions.people import issue_api_token
from annotation.models import Project
from tests.addresses import ARGUMENTS, address_of, has_object, patterns
from tests.campaigns import SCORE, Campaign, make_campaign
from tests.factories import make_user

pytestmark = pytest.mark.django_db

ROLES = (
    "anonymous",
    "trainee",
    "annotator",
    "researcher",
    "manager",
    "removed",
    "stranger",  # manages another project
    "superuser",  # without a role in any project
)
# "in": sent to sign in. Numbers: HTTP status. POST sends FORMS[name].
TABLE = """
                          anonymous trainee annotator researcher manager removed stranger superuser
GET   healthz                   200     200       200        200     200     200      200       200
GET   home                       in     200       200        200     200     200      200       200
GET   sign_in                   200     302       302        302     302     302      302       302
POST  sign_in                   200     302       302        302     302     302      302       302
POST  sign_out                   in      in        in         in      in      in       in        in
GET   invitation                200     200       200        200     200     200      200       200
POST  invitation                422     302       302        302     302     302      302       302
GET   account                    in     200       200        200     200     200      200       200
POST  token_new                  in     200       200        200     200     200      200       200
POST  token_delete               in     404       404        404     302     404      404       404
POST  password                   in     422       422        422     422     422      422       422
GET   project_new                in     403       403        403     200     403      200       200
POST  project_new                in     403       403        403     302     403      302       302
GET   questionnaire_new          in     403       403        403     200     403      200       200
POST  questionnaire_new          in     403       403        403     422     403      422       422

GET   rate                       in     200       302        403     403     404      404       404
GET   rate_item                  in     409       200        403     403     404      404       404
POST  rate_item                  in     409       302        403     403     404      404       404
POST  rate_draft                 in     409       204        403     403     404      404       404
POST  rate_flag                  in     409       403        403     403     404      404       404
POST  rate_skip                  in     409       302        403     403     404      404       404
POST  round_start                in     302       403        403     403     404      404       404
GET   round_review               in     200       404        403     403     404      404       404
GET   history                    in     200       200        403     403     404      404       404
GET   history_rating             in     404       200        403     403     404      404       404
POST  history_correct            in     404       302        403     403     404      404       404

GET   progress                   in     403       403        200     200     404      404       404
GET   summaries                  in     403       403        200     200     404      404       404
GET   summary                    in     403       403        200     200     404      404       404
GET   gold_answers               in     403       403        403     200     404      404       404
POST  gold_answers               in     403       403        403     422     404      404       404
GET   gold_remove                in     403       403        403     200     404      404       404
POST  gold_remove                in     403       403        403     302     404      404       404
POST  gold_restore               in     403       403        403     302     404      404       404
GET   imports                    in     403       403        403     200     404      404       404
POST  imports                    in     403       403        403     422     404      404       404
GET   import_job                 in     403       403        403     200     404      404       404
GET   import_errors              in     403       403        403     200     404      404       404
GET   import_rejects             in     403       403        403     200     404      404       404
POST  import_load                in     403       403        403     302     404      404       404
GET   project_settings           in     403       403        403     200     404      404       404
POST  project_settings           in     403       403        403     422     404      404       404
GET   results_publish            in     403       403        403     200     404      404       404
POST  results_publish            in     403       403        403     302     404      404       404
POST  results_unpublish          in     403       403        403     302     404      404       404
GET   people                     in     403       403        403     200     404      404       404
POST  people                     in     403       403        403     200     404      404       404
POST  invitation_revoke          in     403       403        403     302     404      404       404
GET   member_remove              in     403       403        403     200     404      404       404
POST  member_remove              in     403       403        403     302     404      404       404
POST  rater_qualify              in     403       403        403     302     404      404       404
POST  rater_suspend              in     403       403        403     302     404      404       404
GET   rater_remove               in     403       403        403     200     404      404       404
POST  rater_remove               in     403       403        403     302     404      404       404
POST  rater_reinstate            in     403       403        403     302     404      404       404

GET   runs                       in     403       403        200     200     404      404       404
GET   run_new                    in     403       403        200     200     404      404       404
POST  run_new                    in     403       403        302     302     404      404       404
GET   run                        in     403       403        200     200     404      404       404
POST  run_cancel                 in     403       403        302     302     404      404       404
POST  run_resume                 in     403       403        302     302     404      404       404
GET   run_probe                  in     403       403        200     200     404      404       404
GET   run_delete                 in     403       403        200     200     404      404       404
POST  run_delete                 in     403       403        302     302     404      404       404
GET   run_scores                 in     403       403        200     200     404      404       404
POST  run_budget                 in     403       403        422     422     404      404       404
GET   dimensions                 in     403       403        200     200     404      404       404
POST  dimensions                 in     403       403        403     302     404      404       404
GET   dimension                  in     403       403        403     200     404      404       404
POST  dimension                  in     403       403        403     302     404      404       404
GET   dimension_remove           in     403       403        403     200     404      404       404
POST  dimension_remove           in     403       403        403     302     404      404       404
GET   endpoints                  in     403       403        200     200     404      404       404
POST  endpoints                  in     403       403        403     302     404      404       404
GET   endpoint                   in     403       403        200     200     404      404       404
POST  endpoint_key               in     403       403        403     302     404      404       404
GET   endpoint_key_remove        in     403       403        403     200     404      404       404
POST  endpoint_key_remove        in     403       403        403     302     404      404       404
POST  endpoint_limits            in     403       403        403     302     404      404       404
POST  endpoint_prices            in     403       403        403     302     404      404       404
POST  endpoint_model_new         in     403       403        403     302     404      404       404
GET   endpoint_model_check       in     403       403        200     200     404      404       404
POST  endpoint_model_check       in     403       403        403     302     404      404       404
GET   endpoint_model_remove      in     403       403        403     200     404      404       404
POST  endpoint_model_remove      in     403       403        403     302     404      404       404
GET   endpoint_remove            in     403       403        403     200     404      404       404
POST  endpoint_remove            in     403       403        403     302     404      404       404
GET   summary_scores             in     403       403        200     200     404      404       404
GET   agreement                  in     403       403        200     200     404      404       404
GET   agreement_table            in     403       403        200     200     404      404       404
GET   metaeval                   in     403       403        200     200     404      404       404
GET   metaeval_table             in     403       403        200     200     404      404       404
GET   significance_csv           in     403       403        200     200     404      404       404
GET   levels_csv                 in     403       403        200     200     404      404       404
GET   systems_csv                in     403       403        200     200     404      404       404
GET   systems                    in     403       403        200     200     404      404       404
GET   system_labels_csv          in     403       403        200     200     404      404       404
GET   system_scores_csv          in     403       403        200     200     404      404       404
GET   planning                   in     403       403        200     200     404      404       404
GET   planning_csv               in     403       403        200     200     404      404       404
GET   metaeval_how               in     403       403        200     200     404      404       404
GET   metaeval_figure            in     403       403        200     200     404      404       404
GET   agreement_figure           in     403       403        200     200     404      404       404
GET   evaluator_card             in     403       403        200     200     404      404       404
GET   evaluator_card_table       in     403       403        200     200     404      404       404
GET   evaluator_card_figure      in     403       403        200     200     404      404       404
GET   metaeval_summaries         in     403       403        200     200     404      404       404
GET   disagreements              in     403       403        200     200     404      404       404
GET   disagreements_csv          in     403       403        200     200     404      404       404
GET   disagreement               in     403       403        200     200     404      404       404
POST  disagreement_tag           in     403       403        302     302     404      404       404
POST  disagreement_rerating      in     403       403        302     302     404      404       404
GET   steadiness                 in     403       403        200     200     404      404       404
GET   steadiness_setup           in     403       403        200     200     404      404       404
POST  steadiness_start           in     403       403        302     302     404      404       404
POST  steadiness_schedule        in     403       403        302     302     404      404       404
GET   alignment                  in     403       403        200     200     404      404       404
POST  alignment                  in     403       403        302     302     404      404       404
GET   judge_new                  in     403       403        200     200     404      404       404
POST  judge_new                  in     403       403        422     422     404      404       404
GET   judge                      in     403       403        200     200     404      404       404
GET   judge_version              in     403       403        200     200     404      404       404
GET   judge_version_new          in     403       403        200     200     404      404       404
POST  judge_version_new          in     403       403        422     422     404      404       404
GET   judge_try                  in     403       403        200     200     404      404       404
POST  judge_try                  in     403       403        422     422     404      404       404
GET   sealed_open                in     403       403        200     200     404      404       404
POST  sealed_open                in     403       403        422     422     404      404       404
GET   experiments                in     403       403        200     200     404      404       404
GET   experiment_new             in     403       403        200     200     404      404       404
POST  experiment_new             in     403       403        302     302     404      404       404
GET   experiment_compare         in     403       403        200     200     404      404       404
POST  experiment_compare         in     403       403        422     422     404      404       404
GET   experiment                 in     403       403        200     200     404      404       404
GET   experiment_members         in     403       403        200     200     404      404       404
POST  experiment_cancel          in     403       403        302     302     404      404       404
POST  experiment_resume          in     403       403        302     302     404      404       404
GET   experiment_delete          in     403       403        200     200     404      404       404
POST  experiment_delete          in     403       403        302     302     404      404       404
GET   experiment_table           in     403       403        200     200     404      404       404
GET   experiment_csv             in     403       403        200     200     404      404       404
GET   experiment_figure          in     403       403        200     200     404      404       404

GET   api_schema                401     200       200        200     200     200      200       200
GET   api_projects              401     200       200        200     200     200      200       200
GET   api_project               401     403       403        200     200     404      404       404
GET   api_labels                401     403       403        200     200     404      404       404
GET   api_runs                  401     403       403        200     200     404      404       404
GET   api_run                   401     403       403        200     200     404      404       404
GET   api_scores                401     403       403        200     200     404      404       404
GET   api_experiments           401     403       403        200     200     404      404       404
GET   api_judges                401     403       403        200     200     404      404       404
GET   api_judge                 401     403       403        200     200     404      404       404
GET   api_reaskings             401     403       403        200     200     404      404       404
GET   api_agreement             401     403       403        200     200     404      404       404
GET   api_metaeval              401     403       403        200     200     404      404       404
GET   api_evaluator_card        401     403       403        200     200     404      404       404
"""
OPEN_WHEN_PUBLISHED = {
    "agreement",
    "agreement_table",
    "agreement_figure",
    "evaluator_card",
    "evaluator_card_table",
    "evaluator_card_figure",
    "metaeval",
    "metaeval_figure",
    "metaeval_how",
    "metaeval_table",
    "significance_csv",
    "levels_csv",
    "systems_csv",
    "systems",
    "system_labels_csv",
    "system_scores_csv",
    "planning",
    "planning_csv",
    "api_agreement",
    "api_metaeval",
    "api_evaluator_card",
}
"""What anybody may read once a manager has published it; nothing else opens with it."""
ANYBODY = ("anonymous", "stranger", "superuser")
FORMS: dict[str, dict[str, object]] = {
    "sign_in": {"username": "nobody", "password": "wrong"},
    "token_new": {"label": "laptop"},
    "password": {"old_password": "wrong", "new_password1": "x", "new_password2": "y"},
    "project_new": {"name": "A new one", "questionnaire": "seahorse", "redundancy": 1},
    "rate_item": {"stage": 1, "answer-comprehensibility": "yes"},
    "rate_draft": {"stage": 1, "answer-comprehensibility": "yes"},
    "rate_flag": {"stage": 1, "flag": "The article is cut off."},
    "history_correct": {"answer-comprehensibility": "no", "comment-comprehensibility": "No verb in it."},
    "gold_answers": {"comprehensibility": "no"},
    "imports": {"format": "examples"},
    "project_settings": {"name": ""},
    "people": {"role": "researcher"},
    "disagreement_rerating": {"again": "1"},
    "steadiness_start": {"kind": "drift"},
    "steadiness_schedule": {"days": 7},
    "alignment": {"pool": 20, "tuning": 40, "seed": 0},
    "disagreement_tag": {"verdict": "label", "note": "The rater misread it."},
    "run_new": {"evaluator": "copy_rate", "action": "start"},
    "experiment_new": {
        "evaluator": "rouge",
        "action": "start",
        "name": "Which ROUGE",
        "varies": "variant",
        "values": "1, 2",
    },
    "dimensions": {"name": "another", "description": "Is it?", "sees": "summary"},
    "dimension": {"name": "focus", "description": "Is it on topic?", "sees": "summary"},
    "endpoints": {"base_url": "https://another.example/v1", "key": "another-key"},
    "endpoint_key": {"key": "another-key"},
    "endpoint_limits": {"most_in_flight": 8},
    "endpoint_model_new": {"new-name": "another", "new-api": "chat"},
}
ANY_METHOD = {"healthz", "sign_in", "sign_out"}  # Django's own views, and one that only ever reads
NOT_WITH_YOU = {"rate_item", "rate_draft", "rate_flag", "rate_skip"}
"""Addresses that answer 409 for an assignment of somebody else's, as for one that does not exist."""
OWN_REVIEW = ("round_review", "trainee")
"""Gold answers are explained here, to the rater who answered before."""

WRITES_ALL_THE_SAME = {
    ("GET", "rate"),  # it leads to the rater's next summary, which is then theirs for a while
    ("POST", "rate_flag"),  # its form holds the answers too, which are kept
}
CLOSED_AT_FIRST = {"rate_flag": "annotator"}
"""Address -> the role that it is for, though the table's object is not that far yet."""

SECRETS = ("article", "title", "system", "comment", "explanation", "score", "pseudonym", "note", "file")


@dataclass(frozen=True)
class Row:
    method: str
    name: str
    expected: dict[str, str]


def read_table() -> list[Row]:
    header, *lines = [line.split() for line in TABLE.splitlines() if line.strip()]
    assert tuple(header) == ROLES
    return [Row(method, name, dict(zip(ROLES, rest, strict=True))) for method, name, *rest in lines]


ROWS = read_table()
BY_ADDRESS = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.name}")


IN_A_PROJECT = pytest.mark.parametrize(
    "row",
    [row for row in ROWS if "slug" in ARGUMENTS[row.name]],
    ids=lambda row: f"{row.method} {row.name}",
)


@dataclass(frozen=True)
class Answer:
    """`shown` is body and headers, `written` the statements that changed what sessions do not hold."""

    status: str
    shown: str
    written: list[str]

    @property
    def is_refusal(self) -> bool:
        return is_refusal(self.status)


@dataclass
class World:
    own: Campaign
    foreign: Campaign
    client: Client
    sessions: dict[str, str]
    tokens: dict[str, str]

    def ask(self, role: str, method: str, name: str, address: str = "", **headers: str) -> Answer:
        """One request with this role's session alone, whose effects are taken back."""
        self.client.cookies = SimpleCookie()
        if role in self.sessions:
            self.client.cookies["sessionid"] = self.sessions[role]
        send = getattr(self.client, method.lower())
        address = address or address_of(name, self.own.ids_for(name))
        with transaction.atomic(), writes() as written:
            response = send(address, FORMS.get(name, {}), headers=headers)
            content = b"".join(response.streaming_content) if response.streaming else response.content
            transaction.set_rollback(True)
        return Answer(status_of(response), content.decode() + str(response.headers), written)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[World]:
    """Made once, in a transaction around those of the tests, which are rolled back after each."""
    uploads = override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("uploads"))
    with uploads, django_db_blocker.unblock(), transaction.atomic():
        own, foreign = make_campaign("own"), make_campaign("foreign")
        superuser = make_user("superuser")
        superuser.is_staff = superuser.is_superuser = True
        superuser.save()
        users = {**own.users, "stranger": foreign.users["manager"], "superuser": superuser}
        client, sessions, tokens = Client(), {}, {}
        for role, user in users.items():
            client.force_login(user)
            sessions[role] = client.cookies.pop("sessionid").value
            tokens[role] = issue_api_token(user, "matrix")[1]
        yield World(own, foreign, client, sessions, tokens)
        transaction.set_rollback(True)


@contextmanager
def writes() -> Iterator[list[str]]:
    """The statements that change a table other than those of sessions and of failed sign-ins."""
    found: list[str] = []

    def note(execute: Callable[..., object], sql: str, *rest: object) -> object:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")) and not ("django_session" in sql or "axes_" in sql):
            found.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield found


def status_of(response: HttpResponse) -> str:
    if response.status_code == 302 and response["Location"].startswith("/sign-in/"):
        return "in"
    return str(response.status_code)


def is_refusal(status: str) -> bool:
    return status in ("in", "401", "403", "404", "409")


def test_every_address_has_a_row():
    assert None not in ARGUMENTS, "an address has no name"
    assert set(ARGUMENTS) == {row.name for row in ROWS}
    assert len({(row.method, row.name) for row in ROWS}) == len(ROWS)


@BY_ADDRESS
def test_each_role_gets_what_the_table_says(world, row):
    found = {}
    for role in ROLES:
        answer = world.ask(role, row.method, row.name)
        found[role] = answer.status
        only_reads = row.method == "GET" or answer.is_refusal
        if only_reads and (row.method, row.name) not in WRITES_ALL_THE_SAME:
            assert not answer.written, f"{role} is answered {answer.status}, but something is written"
        assert not leaks(answer, role, row.name, world), f"{role} sees what is hidden from them"
    assert found == row.expected


@BY_ADDRESS
def test_parts_of_pages_are_refused_like_the_pages(world, row):
    """The requests of htmx, which some views answer on a way of their own."""
    for role in ("anonymous", "annotator", "removed", "stranger"):
        answer = world.ask(role, row.method, row.name, **{"HX-Request": "true"})
        assert answer.is_refusal == is_refusal(row.expected[role])
        assert not leaks(answer, role, row.name, world), f"{role} sees what is hidden from them"


@IN_A_PROJECT
def test_publishing_opens_the_results_alone_and_not_to_those_who_rate(world, row):
    Project.objects.filter(pk=world.own.project.pk).update(results_published_at=timezone.now())
    expected = dict(row.expected)
    if row.name in OPEN_WHEN_PUBLISHED:
        expected |= dict.fromkeys(ANYBODY, "200")
    published = {f"{world.own.mark}-system", SCORE}  # every summary has the same score, so it is the mean
    for role in ROLES:
        answer = world.ask(role, row.method, row.name)
        assert answer.status == expected[role], role
        assert set(leaks(answer, role, row.name, world)) <= (published if expected[role] == "200" else set())


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.name.startswith("api_")], ids=lambda row: row.name
)
def test_a_token_opens_to_its_owner_what_the_session_does(world, row):
    found = {
        role: world.ask("by token", "GET", row.name, Authorization=f"Bearer {world.tokens[role]}").status
        for role in ROLES
        if role != "anonymous"
    }
    assert found == {role: status for role, status in row.expected.items() if role != "anonymous"}


def leaks(answer: Answer, role: str, name: str, world: World) -> list[str]:
    """What is in the answer and hidden from this role."""
    hidden = [] if role in ("stranger", "superuser") else [f"{world.foreign.mark}-"]
    hidden.append(f"{world.own.mark}-api-key")  # nobody is shown the key of an endpoint, whoever wrote it
    if role not in ("researcher", "manager"):
        secrets = [kind for kind in SECRETS if (name, role) != OWN_REVIEW or kind != "explanation"]
        hidden += [f"{world.own.mark}-{kind}" for kind in secrets]
        hidden.append(SCORE)
    if role != "manager":
        raters = ("trainee", "annotator", "removed")
        hidden += [f"{world.own.mark}-{rater}-name" for rater in raters if rater != role]
    return [text for text in hidden if text in answer.shown]


def test_the_marks_are_there_for_those_who_may_see_them(world):
    """Without this the search for leaks might look for what no page ever shows."""
    shown = "".join(world.ask("manager", "GET", row.name).shown for row in ROWS if row.method == "GET")
    marks = [f"{world.own.mark}-{kind}" for kind in (*SECRETS, "annotator-name")]
    assert [mark for mark in (*marks, SCORE) if mark not in shown] == []


@IN_A_PROJECT
def test_objects_of_another_project_do_not_exist(world, row):
    """Asked for with one's own project and the id of another's object, and with another's project."""
    foreign = world.foreign.ids_for(row.name)
    expected = {address_of(row.name, foreign): "404"}
    if has_object(row.name):
        mixed = address_of(row.name, {**foreign, "slug": world.own.project.slug})
        expected[mixed] = "409" if row.name in NOT_WITH_YOU else "404"
    for address, status in expected.items():
        for role in may(row):
            answer = world.ask(role, row.method, row.name, address)
            assert (answer.status, answer.written) == (status, []), f"{role} at {address}"


@IN_A_PROJECT
def test_what_does_not_exist_is_not_found(world, row):
    """A project that nobody has, and ids beyond every database's range."""
    ids = world.own.ids_for(row.name)
    expected = {address_of(row.name, {**ids, "slug": "no-such-project"}): "404"}
    if has_object(row.name):
        huge = address_of(row.name, {**ids, **{key: 10**30 for key in ids if key.endswith("_id")}})
        expected[huge] = "409" if row.name in NOT_WITH_YOU else "404"
    for address, status in expected.items():
        answer = world.ask(may(row)[0], row.method, row.name, address)
        assert (answer.status, answer.written) == (status, []), address


def may(row: Row) -> list[str]:
    """The roles that are not refused."""
    return [role for role in ROLES if not is_refusal(row.expected[role])] or [CLOSED_AT_FIRST[row.name]]


@pytest.mark.parametrize("name", sorted(set(ARGUMENTS) - ANY_METHOD))
def test_other_methods_are_refused(world, name):
    taken = {row.method for row in ROWS if row.name == name}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - taken:
        for role in ("annotator", "manager"):
            answer = world.ask(role, method, name)
            assert (answer.status, answer.written) == ("405", []), f"{method} by {role}"


def test_the_admin_is_for_staff_alone(world):
    doors = {"login", "logout"}
    entries = [entry for entry in patterns(admin.site.get_urls()) if not entry.pattern.converters]
    names = {entry.name for entry in entries if entry.name and "app_list" not in entry.name} - doors
    assert {"index", "auth_user_changelist", "annotation_rating_changelist"} <= names
    for name in names:
        address = reverse(f"admin:{name}")
        for role in ROLES:
            answer = world.ask(role, "GET", "admin", address)
            if role == "superuser":
                assert name == "autocomplete" or answer.status == "200" or name.endswith("_add"), address
            else:
                assert answer.status == "302", f"{role} at {address}"
                assert "'/admin/login/" in answer.shown
