"""A running Touchstone, started as a user starts it, and a real browser."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
DESKTOP = {"width": 1366, "height": 768}
SCREENSHOTS = ROOT / "screenshots"
PHONE = {"width": 390, "height": 844}
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

# What is waited for comes within a second on a quiet machine; five are not enough on a busy one.
expect.set_options(timeout=20_000)

ADD_RATER = """
from django.contrib.auth.models import User
from annotation.actions.demo import LANGUAGES
from annotation.actions.people import add_rater, qualify_rater
from annotation.models import Project
user = User.objects.create_user("{username}", password="{password}")
qualify_rater(add_rater(Project.objects.get(slug="demo"), user, LANGUAGES))
"""


@dataclass
class Platform:
    """Touchstone on a port of its own with a database, a broker and files of its own."""

    address: str
    environment: dict[str, str]
    process: subprocess.Popen[str]
    passwords: dict[str, str] = field(default_factory=dict)

    def run(self, code: str) -> str:
        """What `code` prints when run in a Django shell on the platform's own database."""
        shell = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
        done = subprocess.run(
            shell, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def add_rater(self) -> str:
        """The user name of a new qualified rater of the demo project, in all its languages."""
        username, password = f"rater-{uuid.uuid4().hex[:8]}", uuid.uuid4().hex
        self.run(ADD_RATER.format(username=username, password=password))
        self.passwords[username] = password
        return username

    def pids(self, part: str) -> list[int]:
        """Process ids of the platform's 'gunicorn' or 'celery', parents first."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                surroundings = (process / "environ").read_bytes()
            except OSError:
                continue
            mine = f"VAR_DIR={self.environment['VAR_DIR']}".encode() in surroundings.split(b"\0")
            if mine and part.encode() in words:
                found.append(int(process.name))
        return sorted(found)

    def kill(self, part: str) -> None:
        """kill -9 every process of this part."""
        pids = self.pids(part)
        assert pids, f"no {part} is running"
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_platform(folder: Path, *options: str, **environment: str) -> Iterator[Platform]:
    """Start script/serve.py with an empty database and stop it afterwards."""
    surroundings = {**os.environ, "VAR_DIR": str(folder), "PYTHONUNBUFFERED": "1", **environment}
    surroundings.pop("DJANGO_SETTINGS_MODULE", None)
    with throwaway_database(surroundings):
        port = free_port()
        command = [sys.executable, "script/serve.py", "--port", str(port), *options]
        process = subprocess.Popen(
            command, cwd=ROOT, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        platform = Platform(f"http://localhost:{port}", surroundings, process)
        try:
            assert process.stdout is not None
            printed = []
            for line in process.stdout:
                printed.append(line)
                login = re.match(r"\s+(\S+)\s+password (\S+)", line)
                if login:
                    platform.passwords[login[1]] = login[2]
                if "Ctrl-C stops it" in line:
                    break
            else:
                pytest.fail("Touchstone did not start:\n" + "".join(printed))
            yield platform
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
            for pid in platform.pids("gunicorn") + platform.pids("celery"):  # of a launcher that was killed
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@contextmanager
def throwaway_database(surroundings: dict[str, str]) -> Iterator[None]:
    """On PostgreSQL a new database for this platform; SQLite has its file in the platform's folder."""
    url = surroundings.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield
        return
    name = f"touchstone_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    surroundings["DATABASE_URL"] = re.sub(r"/[^/?]*(\?|$)", rf"/{name}\1", url)
    try:
        yield
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Touchstone with its demo project, shared by the tests of a session."""
    weights = tmp_path_factory.mktemp("weights")
    folder = tmp_path_factory.mktemp("platform")
    with running_platform(folder, CLAIM_LEASE_S="5", WEIGHTS_DIR=str(weights)) as started:
        yield started


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium; script/test installs it where it may")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield started
        started.close()


OpenContext = Callable[..., BrowserContext]


@pytest.fixture
def open_context(browser: Browser, platform: Platform) -> Iterator[OpenContext]:
    """Opens browser contexts, one per person, that are closed after the test."""
    contexts: list[BrowserContext] = []

    def open_one(**options: object) -> BrowserContext:
        context = browser.new_context(**{"base_url": platform.address, "viewport": DESKTOP, **options})
        context.set_default_timeout(10_000)
        contexts.append(context)
        return context

    yield open_one
    for context in contexts:
        context.close()


def sign_in(page: Page, platform: Platform, username: str) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(platform.passwords[username])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)


def wait_for_what_follows(page: Page, address: str | None, stage: int) -> None:
    """Wait until this stage of this summary has made way for the next one."""
    page.wait_for_function(
        """([address, stage]) => {
          const item = document.getElementById("item");
          if (!item || item.getAttribute("action") !== address) return true;
          return item.elements.stage.value !== String(stage);
        }""",
        arg=[address, stage],
    )


def take_screenshot(page: Page, name: str, *, whole: bool = True) -> None:
    """Keep a picture of the whole page, or of what is in sight, in the git-ignored folder screenshots/."""
    page.wait_for_load_state("load")
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole)


def look_at(page: Page, name: str) -> None:
    """Pictures of the page at both widths; nothing runs over."""
    page.wait_for_load_state("load")
    for size in (PHONE, DESKTOP):
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
        take_screenshot(page, f"{name}-{'phone' if size is PHONE else 'desktop'}")
