"""Run the web server and two workers until Ctrl-C. `script/up` calls this inside the environment.

It migrates the database and loads the demo projects first. A process that dies is restarted, because the
database knows what it was doing. Meanwhile requests wait at the port, which this process holds. However this
process ends, the others end, too: see end_with_parent.py.
"""

import argparse
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from io import StringIO
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
VAR_DIR = Path(os.environ.get("VAR_DIR", ROOT / "var"))
STOP_PATIENCE_S = 10
WAITING_CONNECTIONS = 2048
WORKER_PROCESSES = 2
# In a container root is the usual user. Each worker would print Celery's warning above the address.
SUPERUSER_WARNING = "You're running the worker with superuser privileges"
# Worker processes that run models share the cores. More threads than cores would only wait.
THREADS = {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // WORKER_PROCESSES))}


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/up", description="Start Touchstone on this machine.")
    parser.add_argument("--port", type=int, default=8000, help="where the web server listens (8000)")
    parser.add_argument("--no-demo", action="store_true", help="start an empty platform")
    arguments = parser.parse_args()
    address = f"http://localhost:{arguments.port}/"
    os.chdir(ROOT)
    lock = lock_data(address)
    try:
        listening = listen(arguments.port)
    except OSError:
        print(f"Port {arguments.port} is in use. Choose another one: script/up --port {arguments.port + 1}")
        return 2
    sys.path.insert(0, str(ROOT))
    sign_in = prepare(with_demo=not arguments.no_demo)
    print("Starting the web server and the workers ...", flush=True)
    commands = {
        "web server": web_server(listening.fileno()),
        "worker": worker("cpu,gpu,llm", WORKER_PROCESSES, "--beat"),
        # A training holds its process to the end, so it has one of its own.
        "training worker": worker("training", 1, "--hostname", "training@%h"),
    }
    stop_on_signals()
    passed_on = {name: [lock.fileno()] for name in commands}
    passed_on["web server"].append(listening.fileno())
    processes = {name: start(command, passed_on[name]) for name, command in commands.items()}
    ended: SimpleQueue[str] = SimpleQueue()
    for name, process in processes.items():
        report_end(name, process, ended)
    try:
        wait_until_it_answers(f"{address}healthz", processes["web server"])
        print(f"\nTouchstone is running at {address}\n{sign_in}\nCtrl-C stops it.", flush=True)
        while True:
            name = ended.get()
            print(
                f"The {name} stopped unexpectedly (exit code {processes[name].returncode}). Restarting it.",
                flush=True,
            )
            processes[name] = start(commands[name], passed_on[name])
            report_end(name, processes[name], ended)
    except KeyboardInterrupt:
        print("\nStopping ...", flush=True)
        return 0
    finally:
        stop(list(processes.values()))


def lock_data(address: str) -> TextIO:
    """Lock VAR_DIR until this process and all that it starts have ended, and return the lock.

    Two starts with the same data would be two schedulers. Exits with 2 if another one holds the lock.
    """
    VAR_DIR.mkdir(parents=True, exist_ok=True)
    lock = (VAR_DIR / "running.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        where, _, pid = lock.read().rpartition(" ")
        if pid and not is_running(int(pid)):
            print(f"Touchstone at {where} is still stopping. Try again in {STOP_PATIENCE_S} seconds.")
        else:
            print(
                f"Touchstone is already running at {where} (process {pid}). Stop it with Ctrl-C in its "
                f"terminal, or with kill {pid}. To start a second one with data of its own, choose another "
                "folder and port: VAR_DIR=FOLDER script/up --port N"
            )
        raise SystemExit(2) from None
    lock.truncate(0)
    lock.write(f"{address} {os.getpid()}")
    lock.flush()
    return lock


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is somebody else's
    return True


def prepare(with_demo: bool) -> str:
    """Migrate, load the demo projects, and return how to sign in."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "touchstone.settings")
    if {
        "SECRET_KEY",
        "SECRET_KEY_FILE",
    } & os.environ.keys():  # which keeps settings from reading the mode in var/local.env
        os.environ.setdefault("TOUCHSTONE_MODE", "local")
    import django
    from django.core.management import call_command
    from django.db import connections

    django.setup()
    print("Updating the database ...", flush=True)
    call_command("migrate", verbosity=0)
    how = "Sign in with your account. If there are no accounts yet, the first page says how to create one."
    if with_demo:
        print("Loading the demo projects ...", flush=True)
        how = call_command("load_demo", stdout=StringIO())
    connections.close_all()
    return how


def web_server(listening: int) -> list[str]:
    return [
        *(sys.executable, "-m", "gunicorn", "touchstone.wsgi:application"),
        *("--bind", f"fd://{listening}", "--worker-class", "touchstone.web_server.BufferingWorker"),
        *("--workers", "2", "--threads", "4"),
        *("--keep-alive", "75"),  # seconds; most raters submit sooner
        *("--preload", "--log-level", "warning", "--worker-tmp-dir", str(VAR_DIR)),
        "--no-control-socket",  # it would lie outside VAR_DIR
    ]


def worker(queues: str, processes: int, *options: str) -> list[str]:
    return [
        *(sys.executable, "-W", f"ignore:{SUPERUSER_WARNING}"),
        *("-m", "celery", "--app", "touchstone", "--quiet", "worker"),
        *("--queues", queues, "--concurrency", str(processes), "--loglevel", "warning"),
        *("--without-mingle", "--without-gossip"),
        *options,
    ]


def start(command: list[str], passed_on: list[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "script/end_with_parent.py", str(STOP_PATIENCE_S), *command],
        stdin=subprocess.PIPE,
        pass_fds=passed_on,
        # Ctrl-C and a closed terminal reach this process alone, and the others stop in order.
        start_new_session=True,
        env=THREADS | os.environ,
    )


def report_end(name: str, process: subprocess.Popen[bytes], ended: SimpleQueue[str]) -> None:
    """Put the name into the queue when the process has ended. A thread waits for that and takes no time."""

    def wait() -> None:
        process.wait()
        ended.put(name)

    Thread(target=wait, daemon=True).start()


def stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.stdin is not None:
            process.stdin.close()
    for process in processes:
        process.wait()


def stop_on_signals() -> None:
    """Stop on SIGTERM, and when the terminal is closed, unless nohup keeps this process running then."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: sys.exit(0))


def listen(port: int) -> socket.socket:
    """Return the socket at which requests wait. Raises OSError if another program has the port."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(WAITING_CONNECTIONS)
    return listening


def wait_until_it_answers(address: str, process: subprocess.Popen[bytes], patience_s: float = 60) -> None:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=2):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise SystemExit("The web server did not start. Its messages are above.")


if __name__ == "__main__":
    sys.exit(main())
