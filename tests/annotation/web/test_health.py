import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.scoring.processes import database_url

pytestmark = pytest.mark.database

ROOT = Path(__file__).resolve().parents[3]
ASK = """
import time
from django.test import Client
for _ in range({times}):
    response = Client().get("{address}", headers={{"host": "10.1.2.3"}})  # as load balancers ask
    if "no answer" not in response.text:
        break
    time.sleep(1)
print(response.status_code, response.json())
"""
TIMES = 100
"""Times after which a busy machine has answered."""


def ask(address: str = "/healthz", times: int = TIMES, **environment: str) -> str:
    """Return what the address answers, asked until there is no part without an answer, at most `times`."""
    done = subprocess.run(
        [
            sys.executable,
            "manage.py",
            "shell",
            "--no-imports",
            "-c",
            ASK.format(address=address, times=times),
        ],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return done.stdout.strip() or done.stderr


@pytest.fixture
def sqlite(tmp_path) -> dict[str, str]:
    return {
        "DATABASE_URL": f"sqlite:///{tmp_path}/data.sqlite3",
        "BROKER_URL": f"sqlite:///{tmp_path}/broker.sqlite3",
        "VAR_DIR": str(tmp_path),
        "UPLOAD_DIR": str(tmp_path / "uploads"),
    }


def test_it_says_ok_when_all_parts_answer(sqlite):
    assert ask(**sqlite) == "200 {'database': 'ok', 'broker': 'ok', 'disk': 'ok'}"


@pytest.mark.thorough
def test_it_asks_rabbitmq(sqlite, rabbitmq):
    sqlite["BROKER_URL"] = rabbitmq.url
    assert ask(**sqlite) == "200 {'database': 'ok', 'broker': 'ok', 'disk': 'ok'}"


def test_it_names_all_that_is_wrong(sqlite):
    sqlite["DATABASE_URL"] = "sqlite:////proc/no/folder/data.sqlite3"
    sqlite["BROKER_URL"] = "sqlite:////no/such/folder/broker.sqlite3"
    said = ask(**sqlite)
    assert said.startswith("503 {'database': 'unreachable', 'broker': 'unreachable', 'disk': 'DATABASE_URL: ")


@pytest.mark.thorough
def test_it_names_an_unreachable_broker(sqlite):
    sqlite["BROKER_URL"] = "redis://127.0.0.1:1/0"
    assert ask(**sqlite) == "503 {'database': 'ok', 'broker': 'unreachable', 'disk': 'ok'}"


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_it_answers_while_the_broker_hangs(sqlite, scheme):
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        sqlite["BROKER_URL"] = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/"
        said = ask(times=1, **sqlite)
    assert said in (
        f"503 {{'database': 'ok', 'broker': '{state}', 'disk': 'ok'}}"
        for state in ("no answer in 2 s", "unreachable")
    )


def test_a_process_is_not_ready_before_the_migrations(sqlite):
    said = ask("/readyz", **sqlite)
    assert said.startswith("503 {'database': '")
    assert said.endswith(" migrations to apply: manage.py migrate'}")


@pytest.mark.django_db(transaction=True)
def test_a_process_with_a_migrated_database_is_ready_without_a_broker(sqlite):
    sqlite |= {"DATABASE_URL": database_url(), "BROKER_URL": "sqlite:////no/such/folder/broker.sqlite3"}
    assert ask("/readyz", **sqlite) == "200 {'database': 'ok'}"
