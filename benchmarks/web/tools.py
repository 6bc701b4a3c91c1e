"""What the benchmarked tools share: an environment, processes, a folder for their data."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.web.load import HOST, Client

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ("comprehensibility", "repetition", "grammar", "attribution", "main_ideas", "conciseness")
ARTICLE = "Word after word. " * 130
SUMMARY = "A summary of it. " * 8
PATIENCE_S = 180


@dataclass(frozen=True)
class Campaign:
    """What is rated, and by how many people at most."""

    items: int
    raters: int


class Tool:
    """An annotation tool whose server is started with a campaign, rated with, and stopped."""

    name: str
    packages: tuple[str, ...] = ()

    def __init__(self, environments: Path) -> None:
        self.environment = environments / self.name
        self.python = self.environment / "bin" / "python"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.port = 0

    def install(self) -> None:
        """Install the packages in an environment of their own, unless it is complete."""
        wanted = "\n".join(self.packages)
        complete = self.environment / "installed.txt"
        if complete.exists() and complete.read_text() == wanted:
            return
        shutil.rmtree(self.environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", self.environment], check=True)
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", *self.packages], check=True)
        complete.write_text(wanted)

    def start(self, folder: Path, campaign: Campaign) -> None:
        """Start the server on data in `folder`, load the campaign and create the raters."""
        raise NotImplementedError

    def sign_in(self) -> Callable[[int], Client]:
        """Return what signs in the rater of a number. It is sent to another process."""
        raise NotImplementedError

    def watched(self) -> tuple[int, list[int]]:
        """Return the process ids of the web server and of what else runs."""
        return self.processes[0].pid, [process.pid for process in self.processes[1:]]

    def stored(self) -> int:
        """Return how many items were rated completely, counting each rater."""
        raise NotImplementedError

    def given_too_often(self) -> int | None:
        """Return how many items got more ratings than they want, or None if the tool has no limit."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the server and what else was started."""
        for process in self.processes:
            process.send_signal(signal.SIGINT)
        for process in self.processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []

    def run(
        self, command: list[str | Path], folder: Path, environment: dict[str, str], address: str = ""
    ) -> None:
        """Start a process that writes its log into the folder, and wait until the address answers."""
        log = folder / f"{self.name}-{len(self.processes)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=folder, env=os.environ | environment, stdout=output, stderr=subprocess.STDOUT
            )
        self.processes.append(process)
        deadline = time.monotonic() + PATIENCE_S
        while address and not answers(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} did not start: {log.read_text()[-2000:]}")
            time.sleep(0.1)


def answers(address: str) -> bool:
    """Return whether a server answers the address without an error of its own."""
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def free_port() -> int:
    """Return a port that no process listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def output_of(command: list[str | Path], folder: Path, environment: dict[str, str]) -> str:
    """Run a command to its end and return what it printed."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[:3]} failed: {done.stderr[-2000:]}")
    return done.stdout.strip()
