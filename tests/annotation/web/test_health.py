import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.database

ROOT = Path(__file__).resolve().parents[3]
ASK = """
from django.test import Client
response = Client().get("/healthz", headers={"host": "10.1.2.3"})  # as load balancers ask
print(response.status_code, response.json())
"""


def ask(**environment: str) -> str:
    """Return what /healthz answers in a process with these settings."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", ASK],
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
    }


def test_it_says_ok_when_database_and_broker_answer(sqlite):
    assert ask(**sqlite) == "200 {'database': 'ok', 'broker': 'ok'}"


def test_it_names_an_unreachable_database(sqlite):
    sqlite["DATABASE_URL"] = "sqlite:////no/such/folder/data.sqlite3"
    assert ask(**sqlite) == "503 {'database': 'unreachable', 'broker': 'ok'}"


@pytest.mark.thorough
@pytest.mark.parametrize("address", ["sqlite:////no/such/folder/broker.sqlite3", "redis://127.0.0.1:1/0"])
def test_it_names_an_unreachable_broker(sqlite, address):
    sqlite["BROKER_URL"] = address
    assert ask(**sqlite) == "503 {'database': 'ok', 'broker': 'unreachable'}"
