"""Values that no page sends, in every place of every address and form: none ends in a server error.

What is asked is read from the table of addresses, the schema of the API and the forms on the pages.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from types import MappingProxyType
from urllib.parse import quote_plus, unquote

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import Resolver404, get_resolver, resolve
from drf_spectacular.generators import SchemaGenerator

from annotation.models import Assignment
from annotation.protocol import SEAHORSE
from tests.addresses import ARGUMENTS, address_of
from tests.campaigns import Campaign
from tests.kept_snapshots import kept_snapshots
from tests.scoring.training.counted_projects import make_trained_model
from tests.security.forms import Sending, sendings
from tests.test_access_matrix import FORMS, ROWS, Row, is_refusal

pytestmark = [pytest.mark.django_db, pytest.mark.thorough]

SIGNED_IN = ("manager", "researcher", "annotator", "trainee")
DIGITS = {"5,000 digits": "9" * 5000, "30 digits": "9" * 30}
"""Kind -> what a field has instead of its value. Python reads only the second as a number."""
ENDS = {"NUL": "%00", "lone surrogate": "%ED%A0%80"}
"""Kind -> what follows the values of all fields at once, percent-encoded."""
MEGABYTE = "x" * 2**20
LONG = {"long": f"%ED%A0%80{'x' * 8000}"}
"""About as long as an address may be; servers refuse longer ones."""
VALUES = {"NUL": "a%00", **DIGITS, **LONG}
COMMON = (
    *("page", "cursor", "limit", "offset", "format", "next", "text", "language", "system", "dataset"),
    *("question", "evaluator", "group", "level", "only", "version", "revision", "with", "among", "back"),
)
"""Parameters that every page gets together, because some are in no form and no link."""
HEADERS = (
    "User-Agent",
    "Accept",
    "Accept-Language",
    "Referer",
    "Authorization",
    "HX-Current-URL",
    "If-None-Match",
)
URLENCODED = "application/x-www-form-urlencoded"


@dataclass
class Attacker:
    """Sends requests as one of the campaign's people and rolls back what they change."""

    campaign: Campaign
    client: Client
    sessions: dict[str, str]
    snapshots: dict[int, object] = field(default_factory=dict)
    broken: list[tuple[object, ...]] = field(default_factory=list)
    """What was asked and answered with a server error."""

    def ask(self, role: str, method: str, address: str, body: str = "", *told: object) -> HttpResponse:
        """Send one request. `told` says in `broken` what was hostile in it."""
        self.client.cookies = SimpleCookie({"sessionid": self.sessions[role]})
        path, _, query = address.partition("?")
        kept = kept_snapshots(self.snapshots) if method == "GET" else nullcontext()
        with kept, transaction.atomic():
            response = self.client.generic(method, path, body, URLENCODED, QUERY_STRING=query)
            list(response)
            transaction.set_rollback(True)
        if response.status_code >= 500:
            error = repr(getattr(response, "exc_info", [None, None])[1])
            self.broken.append((role, method, path[:80], *told, response.status_code, error[:200]))
        return response


@pytest.fixture(scope="module")
def attacker(campaign, tmp_path_factory) -> Iterator[Attacker]:
    client, sessions = Client(raise_request_exception=False), {}
    for role in SIGNED_IN:
        client.force_login(campaign.users[role])
        sessions[role] = client.cookies.pop("sessionid").value
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEIGHTS_DIR", str(tmp_path_factory.mktemp("weights")))
        make_trained_model(str(campaign.ids["model_name"]))
        yield Attacker(campaign, client, sessions)


@pytest.fixture(autouse=True)
def forget_what_was_broken(attacker) -> None:
    attacker.broken.clear()


@pytest.fixture(scope="module")
def offered(attacker) -> list[tuple[str, str, Sending]]:
    """Return what the pages offer to send: the role, the name of the address, and the form or link.

    The same fields to the same address are there once.
    """
    found: dict[tuple[object, ...], tuple[str, str, Sending]] = {}
    for role, row in ((role, row) for role in SIGNED_IN for row in ROWS):
        if row.method != "GET" or row.expected[role] != "200":
            continue
        address = address_of(row.name, attacker.campaign.ids_for(row.name))
        response = attacker.ask(role, "GET", address)
        is_page = response.get("Content-Type", "").startswith("text/html")
        for each in sendings(response.content.decode(), address) if is_page else ():
            name = name_of(each.path)
            if name in ARGUMENTS:
                found.setdefault((each.method, name, frozenset(each.fields)), (role, name, each))
    return list(found.values())


def role_for(row: Row) -> str:
    return next((role for role in SIGNED_IN if not is_refusal(row.expected[role])), "manager")


def name_of(path: str) -> str | None:
    """Return the name of the address; None if nothing is there."""
    try:
        return resolve(path).url_name
    except Resolver404:
        return None


def filled(name: str, arguments: Mapping[str, object]) -> str:
    """Return the address with these arguments, which need not fit it."""
    [(template, _), *_] = get_resolver().reverse_dict.getlist(name)[0][0]
    return "/" + template % arguments


def encoded(fields: Mapping[str, object], replaced: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the fields as a form is sent. The `replaced` are sent as they are."""
    sent = {name: quote_plus(str(value)) for name, value in fields.items()} | dict(replaced)
    return "&".join(f"{quote_plus(name)}={value}" for name, value in sent.items())


def test_no_argument_of_an_address_breaks_it(attacker):
    nowhere = set()
    for row in ROWS:
        ids = attacker.campaign.ids_for(row.name)
        body = encoded(FORMS.get(row.name, {}))
        for argument in ARGUMENTS[row.name]:
            for kind in ("NUL", *(DIGITS if isinstance(ids[argument], int) else LONG)):
                address = filled(row.name, {**ids, argument: VALUES[kind]})
                if name_of(unquote(address)) is None:  # all such are answered alike
                    if kind in nowhere:
                        continue
                    nowhere.add(kind)
                attacker.ask(role_for(row), row.method, address, body, row.name, argument, kind)
    assert attacker.broken == []


def parameters_of_the_api() -> dict[str, set[str]]:
    """Return the parameters of the API's addresses, which have their arguments in braces."""
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return {
        path: {each["name"] for each in operations["get"].get("parameters", []) if each["in"] == "query"}
        for path, operations in paths.items()
        if "get" in operations
    }


def test_no_parameter_breaks_a_page(attacker, offered):
    in_api = parameters_of_the_api()
    for row in (row for row in ROWS if row.method == "GET"):
        braced = filled(row.name, {argument: f"{{{argument}}}" for argument in ARGUMENTS[row.name]})
        known = set(in_api.get(braced, ()))
        known.update(*(each.fields for _, name, each in offered if each.method == "GET" and name == row.name))
        address = address_of(row.name, attacker.campaign.ids_for(row.name))
        cases = [([key], kind) for kind in DIGITS for key in sorted(known)]
        cases += [([*COMMON, *sorted(known)], kind) for kind in VALUES]
        for hostile, kind in cases:
            query = encoded({}, dict.fromkeys(hostile, VALUES[kind]))
            attacker.ask(role_for(row), "GET", f"{address}?{query}", "", row.name, hostile, kind)
    assert attacker.broken == []


def read_alike(field: str) -> str:
    """Return what a field has in common with those that differ in a number or in the question only."""
    keys = "|".join(question.key for question in SEAHORSE.questions)
    return re.sub(rf"\d+|{keys}", "*", field)


def test_no_field_breaks_a_form(attacker, offered):
    posted = [each for each in offered if each[2].method == "POST"]
    found = {name for _, name, _ in posted}
    assert len(found) > 60, "most forms were not found on the pages"
    for row in (row for row in ROWS if row.method == "POST" and row.name not in found):
        address = address_of(row.name, attacker.campaign.ids_for(row.name))
        posted.append((role_for(row), row.name, Sending("POST", address, {})))
    tried: set[tuple[str, str]] = set()
    for role, name, form in posted:
        # 5,000 digits break what reads them; 30 digits and long texts what stores them, if all else is right.
        fields = form.fields | {key: str(value) for key, value in FORMS.get(name, {}).items()}
        hostile = sorted(fields.keys() - {"csrfmiddlewaretoken"})
        alone = {read_alike(key): key for key in hostile if (name, read_alike(key)) not in tried}.values()
        tried.update((name, read_alike(key)) for key in alone)
        cases = [({key: DIGITS["30 digits"]}, "30 digits") for key in alone]
        for kind, value in (("5,000 digits", DIGITS["5,000 digits"]), ("1 MB", MEGABYTE)):
            cases += [({key: value}, kind) for key in alone if key in form.typed]
        cases += [(dict.fromkeys(hostile, DIGITS["5,000 digits"]), "5,000 digits")]
        cases += [({key: MEGABYTE[:: len(hostile)] for key in hostile}, "1 MB")]
        cases += [
            ({key: quote_plus(fields[key]) + end for key in hostile}, kind) for kind, end in ENDS.items()
        ]
        for replaced, kind in cases if hostile else ():
            attacker.ask(role, "POST", form.address, encoded(fields, replaced), name, [*replaced], kind)
    assert attacker.broken == []


def test_a_comment_is_kept_without_its_nul(attacker, campaign):
    address = address_of("rate_draft", campaign.ids_for("rate_draft"))
    fields = {"stage": 1, "answer-comprehensibility": "yes", "comment-comprehensibility": "No\0 verb."}
    attacker.client.force_login(campaign.users["annotator"])
    assert attacker.client.post(address, fields).status_code == 204
    draft = Assignment.objects.get(pk=campaign.ids["assignment_id"]).draft
    assert "No verb." in str(draft)


@pytest.mark.parametrize("kind", ["hex", "utf-16", "unicode_escape", "no-such-encoding"])
def test_only_utf_8_is_read(attacker, campaign, kind):
    """Some names of encodings fail when text is read; one would let half a character through."""
    address = address_of("rating_void", campaign.ids_for("rating_void"))
    body = '--x\r\nContent-Disposition: form-data; name="reason"\r\n\r\n\\ud800\r\n--x--\r\n'
    attacker.client.force_login(campaign.users["manager"])
    multipart = attacker.client.generic(
        "POST", address, body, f"multipart/form-data; boundary=x; charset={kind}"
    )
    page = attacker.client.generic("GET", "/?next=a", "", f"text/plain; charset={kind}")
    assert multipart.status_code < 500
    assert page.status_code in (200, 400)


@pytest.mark.parametrize("value", ["\xff" * 2000, "9" * 5000, "unknown", "[::1]:80", "1.2.3.4:5678"])
def test_no_header_breaks_a_sign_in(attacker, settings, value):
    """A failed one is stored with the client's address and some headers."""
    settings.BEHIND_HTTPS_PROXY = True
    attacker.client.cookies = SimpleCookie()
    for name in (*HEADERS, "X-Forwarded-For"):
        fields = {"username": "nobody", "password": "wrong"}
        response = attacker.client.post(
            "/sign-in/", fields, headers={name: value, "X-Forwarded-Proto": "https"}
        )
        assert response.status_code < 500, name


def test_no_cookie_breaks_a_page(attacker):
    for name in ("sessionid", "csrftoken", "messages"):
        for value in (r'"aaaaaaaaaaaa\000"', "9" * 5000):
            attacker.client.cookies = SimpleCookie()
            response = attacker.client.get("/", headers={"Cookie": f"{name}={value}"})
            assert response.status_code < 500, name
