"""Processes on the test's own database, which tests start and kill; such tests need transaction=True."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from django.db import connection
from redis import Redis
from redis.exceptions import ConnectionError

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


class RedisServer:
    """A Redis server at a port of its own, which can be killed and started again."""

    PROGRAM = "redis-server"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = {"port": self.port, "bind": "127.0.0.1", "save": "", "dir": self.folder}
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self._process = subprocess.Popen([self.PROGRAM, *arguments], stdout=subprocess.DEVNULL)
        wait_for(self._answers, self._process)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()

    def _answers(self) -> bool:
        with Redis(port=self.port) as client:
            try:
                return client.ping()
            except ConnectionError:
                return False


class RabbitMQ:
    """A virtual host of its own in the RabbitMQ that runs at the default port."""

    def __init__(self) -> None:
        self._name = f"touchstone-tests-{os.getpid()}"

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:5672/{self._name}"

    def start(self) -> None:
        """Make the virtual host. Raises OSError or subprocess.CalledProcessError if that is not possible."""
        self._control("add_vhost", self._name)
        self._control("set_permissions", "--vhost", self._name, "guest", ".*", ".*", ".*")

    def kill(self) -> None:
        self._control("delete_vhost", self._name)

    def restart(self) -> None:
        """Close all connections, which is what clients see of a restart."""
        self._control("close_all_connections", "--vhost", self._name, "a test")

    def _control(self, *arguments: str) -> None:
        path = f"{os.environ['PATH']}:/usr/sbin"
        program = shutil.which("rabbitmqctl", path=path) or "rabbitmqctl"
        subprocess.run([program, "--quiet", *arguments], check=True, capture_output=True)
