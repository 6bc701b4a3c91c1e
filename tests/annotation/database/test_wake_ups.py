"""Messages to workers by way of a broker that takes connections and never answers."""

import os
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from tests.scoring.processes import PATIENCE_S, ROOT

SEND = """
import time, django, touchstone.celery
django.setup()
from annotation.database.wake_ups import send_task
begun = time.monotonic()
for pk in range(30):
    send_task("work_on_run", pk, "cpu", None)
print(time.monotonic() - begun)
"""
MOST_S = 30
"""Each message alone would wait for longer than this in all."""


@pytest.mark.thorough
def test_a_broker_that_hangs_is_not_waited_for_by_every_message(tmp_path):
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        sent = subprocess.run(
            [sys.executable, "-c", SEND],
            cwd=ROOT,
            env={
                **os.environ,
                "DATABASE_URL": f"sqlite:///{tmp_path}/data.sqlite3",
                "BROKER_URL": f"redis://127.0.0.1:{silent.getsockname()[1]}/0",
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
    assert float(sent.stdout) < MOST_S
    assert sent.stderr.count("The broker cannot be reached for work_on_run") == 1
