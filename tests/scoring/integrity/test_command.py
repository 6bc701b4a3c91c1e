"""manage.py check_integrity: what it prints, its exit codes, and its page in the documentation."""

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.models import Summary
from scoring.integrity.checks import CHECKS
from tests.conftest import ROOT
from tests.factories import make_project, make_summary

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RUN_HERE = sum(connection.vendor == "sqlite" or not each.only_sqlite for each in CHECKS)


def run(*arguments: str) -> tuple[str, str, int]:
    """Return what the command prints to both streams, and its exit code."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    try:
        call_command("check_integrity", *arguments, stdout=out, stderr=err)
    except CommandError as error:
        err.write(str(error))
        code = error.returncode
    return out.getvalue(), err.getvalue(), code


def test_sound_data():
    make_summary(make_project())
    printed, errors, code = run()
    assert (code, errors) == (0, "")
    assert printed.count(": sound") == RUN_HERE
    assert f"Sound: {RUN_HERE} checks found nothing." in printed
    assert ("not checked: database file and references" in printed) == (connection.vendor != "sqlite")


def test_broken_rows_are_named_with_their_rule():
    summary = make_summary(make_project())
    Summary.objects.filter(pk=summary.pk).update(open_places=0)
    printed, errors, code = run()
    assert code == 1
    assert re.search(rf"open places \(.* s\): FOUND 1: summary {summary.pk}\n  Rule: A summary has", printed)
    assert errors == f"Rules are broken (1 of {RUN_HERE}): open places."


def test_only_one_project():
    sound, broken = make_project(), make_project()
    Summary.objects.filter(pk=make_summary(broken).pk).update(open_places=0)
    assert run("--project", sound.slug)[2] == 0
    assert run("--project", broken.slug)[2] == 1
    assert "triggers" not in run("--project", sound.slug)[0]


def test_an_unknown_project():
    assert run("--project", "nowhere")[1:] == (
        "there is no project 'nowhere'; there are none\n"
        "To create one: manage.py create_project NAME --questionnaire seahorse",
        2,
    )


def test_json():
    summary = make_summary(make_project())
    Summary.objects.filter(pk=summary.pk).update(open_places=0)
    printed, errors, code = run("--json")
    found = json.loads(printed)
    assert (code, len(found)) == (1, RUN_HERE)
    assert errors.count(": sound") == RUN_HERE - 1
    broken = {each["check"]: each for each in found if each["broken"]}
    assert broken["open places"]["examples"] == [f"summary {summary.pk}"]
    assert broken.keys() == {"open places"}


def test_the_documentation_lists_the_checks():
    page = (ROOT / "docs" / "operators.md").read_text()
    rows = re.findall(r"^\| (.+) \| (.+) \|$", page.split("| check | rule |")[1], re.MULTILINE)
    assert rows[1 : len(CHECKS) + 1] == [(each.name, each.rule) for each in CHECKS]
