"""Payloads in names and texts, code in data."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.addresses import ARGUMENTS, address_of
from tests.security.executables import Executables
from tests.security.pages import PAYLOAD, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("server_keeps_snapshots")]

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "role",
    [
        "annotator",
        "manager",
        *(pytest.param(each, marks=pytest.mark.thorough) for each in ("trainee", "researcher")),
    ],
)
@pytest.mark.parametrize(
    "htmx",
    [
        pytest.param({}, id="page"),
        pytest.param({"HX-Request": "true"}, id="part", marks=pytest.mark.thorough),
    ],
)
def test_names_and_texts_are_shown_and_never_run(open_as, campaign, role, htmx):
    client = open_as(role)
    shown = 0
    for name in ARGUMENTS:
        response = client.get(address_of(name, campaign.ids_for(name)), headers=htmx)
        if not response.headers["Content-Type"].startswith("text/html"):
            continue
        page = text_of(response)
        assert "<script>alert" not in page, name
        assert "<img src=x" not in page, name
        assert Executables(page).found == [], name
        shown += "&lt;script&gt;alert(1)" in page
    assert shown >= 3, "the payload is on too few pages for a meaningful test"


def test_the_search_for_executables_finds_them():
    page = f'<a href="JavaScript:x">{PAYLOAD}</a><p style="x" hx-on:click="y"><script src="//x"></script>'
    assert Executables(page).found == [
        "href=JavaScript:x",
        "script",
        "onerror",
        "style",
        "hx-on:click",
        "script",
        "src=//x",
    ]


def test_templates_hold_no_inline_script_or_style():
    inline = re.compile(
        r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=|hx-on|hx-vars|javascript:"
        r"|\|safe\b|autoescape off|safeseq"
    )
    templates = {path: path.read_text() for path in (ROOT / "templates").rglob("*.html")}
    assert len(templates) > 100
    assert {path: found[0] for path, text in templates.items() if (found := inline.search(text))} == {}


def test_stored_data_is_never_run_as_code():
    """No pickle or similar formats and no eval; pickled weights are read as tensors only or refused.

    Shared results are the exception: tests/metaeval/live/test_shared_results.py shows that only what the
    server's processes have signed is unpickled.
    """
    loose = re.compile(
        r"\bpickle\.(?!UnpicklingError)|\b(cPickle|dill|shelve|marshal|joblib)\b|from pickle"
        r"|yaml\.(unsafe_)?load\(|(?<![\w.])(eval|exec)\(|allow_pickle"
        r"|torch\.load\((?!.*weights_only=True)|__import__\("
    )
    sources = [
        path
        for app in ("annotation", "scoring", "metaeval", "touchstone")
        for path in (ROOT / app).rglob("*.py")
    ]
    assert len(sources) > 100
    assert [path.name for path in sources if loose.search(path.read_text())] == ["shared_results.py"]


def test_messages_and_sessions_are_json():
    from touchstone.celery import app

    assert list(app.conf.accept_content) == ["json"]
    assert app.conf.task_serializer == "json"
    assert settings.SESSION_SERIALIZER == "django.contrib.sessions.serializers.JSONSerializer"
