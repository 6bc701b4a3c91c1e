"""compose.yaml and the units of systemd agree with docs/operators.md and with the code."""

import re
import shlex
from typing import get_args

import yaml

from scoring.contract.evaluator import Queue
from tests.conftest import ROOT
from tests.docs.test_operators import TABLE_ROW

PAGE = (ROOT / "docs" / "operators.md").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
UNITS = {path.name: path.read_text() for path in (ROOT / "docs" / "systemd").iterdir()}
SERVICES = {name: text for name, text in UNITS.items() if name.endswith(".service")}
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COPIED = [
    name for names in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for name in names.split()
]
QUEUES = {*get_args(Queue), "training"}
OUR_SERVICES = {name: each for name, each in COMPOSE["services"].items() if "build" in each}


def queues_of(command: list[str]) -> list[str]:
    return command[command.index("--queues") + 1].split(",")


def commands() -> list[list[str]]:
    """Return the indented lines of the document as words."""
    lines = re.findall(r"^    (\S.*)$", PAGE.replace("\\\n", ""), re.MULTILINE)
    return [shlex.split(line) for line in lines if line.startswith(("celery", "gunicorn", "systemctl"))]


def test_every_queue_is_served_once():
    documented = [each for words in commands() if "--queues" in words for each in queues_of(words)]
    composed = [
        each
        for service in OUR_SERVICES.values()
        if "--queues" in service.get("command", [])
        for each in queues_of(service["command"])
    ]
    of_units = set(re.findall(r"touchstone-worker@(\w+)", PAGE))
    assert sorted(documented) == sorted(composed) == sorted(QUEUES)
    assert of_units == QUEUES


def test_the_web_server_is_started_with_the_same_options_everywhere():
    (documented,) = [words for words in commands() if words[0] == "gunicorn"]
    (image,) = re.findall(r"^CMD \[(.*?)\]", DOCKERFILE, re.MULTILINE | re.DOTALL)
    (unit,) = re.findall(
        r"^ExecStart=(.*)$", UNITS["touchstone-web.service"].replace("\\\n", ""), re.MULTILINE
    )
    options = documented[documented.index("--worker-class") :]
    assert re.findall(r'"([^"]*)"', image)[3:] == options
    assert shlex.split(unit)[1:] == options


def test_there_is_one_clock():
    beat = ["celery", "-A", "touchstone", "beat"]
    assert commands().count(beat) == 1
    assert [each for each in OUR_SERVICES.values() if "beat" in each.get("command", [])] == [
        OUR_SERVICES["beat"]
    ]
    assert OUR_SERVICES["beat"]["command"] == beat
    assert f"bin/{' '.join(beat)}\n" in UNITS["touchstone-beat.service"]


def test_every_variable_is_documented():
    documented = {name for row in TABLE_ROW.findall(PAGE) for name in re.findall(r"[A-Z_]+", row)}
    used = {name for service in OUR_SERVICES.values() for name in service["environment"]}
    (of_image,) = re.findall(r"^ENV (TOUCHSTONE_MODE.*?[^\\])$", DOCKERFILE, re.MULTILINE | re.DOTALL)
    used |= set(re.findall(r"\b([A-Z_]+)=", of_image))
    (first_steps,) = re.findall(r"such as `/etc/touchstone.env`.*?\n\n(.*?)\n\n", PAGE, re.DOTALL)
    used |= set(re.findall(r"^ +([A-Z_]+)=", first_steps, re.MULTILINE))
    assert {"SECRET_KEY", "SECRET_KEY_FILE", "VAR_DIR", "HF_HOME"} <= used
    assert used - documented == set()


def test_secrets_come_from_files_and_are_in_no_image():
    for name, service in OUR_SERVICES.items():
        for variable, value in service["environment"].items():
            if variable.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"], name
        assert not {"SECRET_KEY", "DATABASE_URL"} & service["environment"].keys()
    sent = (ROOT / ".dockerignore").read_text().split()
    assert sent[sent.index("*") + 1 :] == [f"!{name}" for name in COPIED] + ["**/__pycache__"]
    assert "/secrets/" in (ROOT / ".gitignore").read_text().split()


def test_services_may_write_to_one_folder():
    assert len(SERVICES) == 3
    for text in SERVICES.values():
        options = set(text.splitlines())
        assert {"NoNewPrivileges=true", "ProtectSystem=strict", "PrivateTmp=true"} <= options
        assert re.findall("^ReadWritePaths=(.*)$", text, re.MULTILINE) == ["/var/lib/touchstone"]
        assert {"Restart=always", "EnvironmentFile=/etc/touchstone.env", "User=touchstone"} <= options
