"""Processes on the test's own database, which tests start and kill; such tests need transaction=True."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 240
"""A process may take long to start or to load a model on a busy machine."""
LOOK_EVERY_S = 0.005


def database_url() -> str:
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    return "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**database)


def surroundings(folder: Path, **variables: str) -> dict[str, str]:
    """Return a process's variables: this test's database, a broker and files in the folder."""
    found = {
        **os.environ,
        "VAR_DIR": str(folder),
        "UPLOAD_DIR": str(folder / "uploads"),
        "DATABASE_URL": database_url(),
        "BROKER_URL": f"sqlite:///{folder / 'broker.sqlite3'}",
        "OMP_NUM_THREADS": "1",
        **variables,
    }
    found.pop("DJANGO_SETTINGS_MODULE", None)
    return found


def start(environment: dict[str, str], script: str, **options: object) -> subprocess.Popen:
    """Start a process that runs the script on the platform."""
    program = f"import django, touchstone.celery; django.setup()\n{script}"
    return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment, **options)


def wait_for(condition: Callable[[], bool], process: subprocess.Popen) -> None:
    """Wait until the condition holds; fail if the process ends before."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        assert process.poll() is None, "the process ended by itself"
        time.sleep(LOOK_EVERY_S)
