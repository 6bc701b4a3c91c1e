"""A platform started as script/up does, and how it ends."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.conftest import ROOT

PATIENCE_S = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(folder: Path, port: int) -> subprocess.Popen[str]:
    """Start script/serve.py with its data in the folder, and with a key but no mode."""
    environment = {
        **os.environ,
        "SECRET_KEY": "a-key",
        "VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'touchstone.sqlite3'}",
        "BROKER_URL": f"sqlite:///{folder / 'broker.sqlite3'}",
    }
    environment.pop("TOUCHSTONE_MODE", None)
    command = [sys.executable, "script/serve.py", "--no-demo", "--port", str(port)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=restore_signals,
    )


def restore_signals() -> None:
    """Let the signals end the platform that nohup, and shells in the background, ignore."""
    for each in (signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)


@contextmanager
def reaped(process: subprocess.Popen) -> Iterator[None]:
    """Kill the process and all that it started, should a test fail."""
    try:
        yield
    finally:
        left = [*descendants(process), process] if process.poll() is None else []
        for each in left:
            each.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def descendants(process: subprocess.Popen) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def is_master(web_server: psutil.Process) -> bool:
    parent = web_server.parent()
    return parent is not None and "end_with_parent.py" in " ".join(parent.cmdline())


def wait_until_running(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if "Ctrl-C stops it" in line:
            return
    pytest.fail("Touchstone did not start")


@pytest.mark.parametrize(
    "ending",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGHUP, marks=pytest.mark.thorough),
        pytest.param(signal.SIGTERM, marks=pytest.mark.thorough),
        pytest.param(signal.SIGINT, marks=pytest.mark.thorough),
    ],
)
def test_nothing_outlives_the_platform_however_it_ends(tmp_path, migrated_sqlite, ending):
    shutil.copy(migrated_sqlite, tmp_path)
    port = free_port()
    platform = serve(tmp_path, port)
    with reaped(platform):
        wait_until_running(platform)
        with urllib.request.urlopen(f"http://localhost:{port}/sign-in/", timeout=PATIENCE_S) as page:
            assert page.status == 200, "plain http, as in local mode"
        started = descendants(platform)
        assert len(started) >= 10, "three supervisors, a web server and two workers with theirs"

        [master] = [each for each in started if "gunicorn" in each.cmdline() and is_master(each)]
        workers = master.children()
        master.kill()
        psutil.wait_procs(workers, PATIENCE_S)
        with urllib.request.urlopen(f"http://localhost:{port}/sign-in/", timeout=PATIENCE_S) as page:
            assert page.status == 200, "requests wait at the port until the web server is back"
        started = descendants(platform)

        second = serve(tmp_path, free_port())
        printed, _ = second.communicate(timeout=PATIENCE_S)
        assert second.returncode == 2
        assert f"already running at http://localhost:{port}/ (process {platform.pid})" in printed

        platform.send_signal(ending)
        assert platform.wait(PATIENCE_S) == (-signal.SIGKILL if ending == signal.SIGKILL else 0)
        _, alive = psutil.wait_procs(started, PATIENCE_S)
        assert not alive
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


def test_data_of_a_platform_that_is_still_stopping_are_not_opened(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    with (tmp_path / "running.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"http://localhost:9/ {ended.pid}")
        lock.flush()
        refused = serve(tmp_path, free_port())
        printed, _ = refused.communicate(timeout=PATIENCE_S)
    assert refused.returncode == 2
    assert printed == "Touchstone at http://localhost:9/ is still stopping. Try again in 10 seconds.\n"


def test_a_port_of_another_program_is_named(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        refused = serve(tmp_path, port)
        printed, _ = refused.communicate(timeout=PATIENCE_S)
    assert refused.returncode == 2
    assert printed == f"Port {port} is in use. Choose another one: script/up --port {port + 1}\n"


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "script/end_with_parent.py", *sys.argv[1:]], stdin=subprocess.PIPE)
sys.exit(child.wait())
"""


def parent_of(patience_s: float, script: str) -> subprocess.Popen[str]:
    """Start a process that starts the shell script as script/serve.py starts a worker."""
    command = [sys.executable, "-c", PARENT, str(patience_s), "bash", "-c", script]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def sleepers(process: subprocess.Popen, number: int) -> list[psutil.Process]:
    """Return all that the process started, once that many `sleep` run."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = descendants(process)
        if sum(each.name() == "sleep" for each in found) == number:
            return found
        time.sleep(0.01)
    pytest.fail("the command did not start")


def test_a_command_that_ignores_the_signal_is_killed_after_its_parent():
    parent = parent_of(0.5, 'trap "" TERM; sleep 1000 & sleep 1000')
    with reaped(parent):
        started = sleepers(parent, 2)
        parent.kill()
        _, alive = psutil.wait_procs(started, PATIENCE_S)
        assert not alive


def test_a_command_may_end_in_order_after_its_parent(tmp_path):
    note = tmp_path / "note.txt"
    parent = parent_of(PATIENCE_S, f'trap "echo stopped > {note}; exit" TERM; sleep 1000 & wait')
    with reaped(parent):
        started = sleepers(parent, 1)
        parent.kill()
        _, alive = psutil.wait_procs(started, PATIENCE_S / 2)
        assert not alive, "what the command left behind is killed at once"
    assert note.read_text() == "stopped\n"


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", 128 + signal.SIGKILL)])
def test_the_parent_learns_how_the_command_ended(script, code):
    parent = parent_of(PATIENCE_S, f"sleep 1000 & {script}")
    with reaped(parent):
        assert parent.wait(PATIENCE_S) == code
