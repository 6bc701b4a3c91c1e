"""A running Touchstone, started as users start it, and a real browser."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
DESKTOP = ViewportSize(width=1366, height=768)
SCREENSHOTS = ROOT / "screenshots"
PHONE = ViewportSize(width=390, height=844)
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--renderer-process-limit=1",  # saves the start of a process per person
]

# Pages answer within a second on an idle machine; a busy one may need a minute.
TIMEOUT_MS = 120_000
expect.set_options(timeout=TIMEOUT_MS)

SHELL = """
import contextlib, io, json, sys
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(json.loads(line), {})
    print(json.dumps(printed.getvalue()), flush=True)
"""

ADD_RATER = """
from django.contrib.auth.models import User
from django.test import Client
from annotation.demo.load import LANGUAGES
from annotation.gold.qualified_languages import choose_language, qualify_rater
from annotation.guidelines.following import confirm_guidelines, followed_versions
from annotation.people.members import add_rater
from annotation.models import Project
user = User.objects.create_user("{username}", password="{password}" or None)
rater = add_rater(Project.objects.get(slug="demo"), user, LANGUAGES)
for language in LANGUAGES:
    qualify_rater(rater, User.objects.get(username="demo-manager"), language)
choose_language(rater, LANGUAGES[rater.pk % len(LANGUAGES)])
confirm_guidelines(rater, [each.version.pk for each in followed_versions(rater)])
client = Client()
client.force_login(user, "django.contrib.auth.backends.ModelBackend")
print(client.cookies["sessionid"].value)
"""


@dataclass
class Platform:
    """Touchstone on its own port, with its own database, broker and files."""

    address: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes]
    messages: Path
    """What the web server and the workers print."""
    passwords: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)

    @cached_property
    def shell(self) -> subprocess.Popen[str]:
        """A Django shell that runs programs, one per line of JSON, and prints their output."""
        command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", SHELL]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=ROOT, env=self.environment, stdin=pipe, stdout=pipe, text=True, bufsize=1
        )

    def run(self, code: str) -> str:
        """Run `code` in a Django shell of the platform and return its output."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(json.dumps(code) + "\n")
        printed = self.shell.stdout.readline()
        assert printed, "the program failed; its error is above"
        return str(json.loads(printed)).strip()

    def wait_until_it_runs(self) -> None:
        """Wait until the platform has started."""
        while "Ctrl-C stops it" not in self.messages.read_text():
            if self.process.poll() is not None:
                pytest.fail(f"Touchstone did not start:\n{self.messages.read_text()}")
            time.sleep(0.05)

    def wait_until_it_answers(self) -> None:
        """Wait until a web server that was killed has been started again."""
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.address}/healthz", timeout=TIMEOUT_MS / 1000):
                    return
            except OSError:
                time.sleep(0.1)
        pytest.fail("the web server did not restart")

    def stop(self) -> None:
        """Kill all processes of the platform, because an orderly end takes seconds."""
        self.process.kill()
        self.process.wait()
        if "shell" in self.__dict__:
            self.shell.communicate()
        for pid in self.pids("gunicorn") + self.pids("celery"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def add_rater(self, password: str = "") -> str:
        """Add a qualified rater in all languages to the demo project and return the user name.

        With a password the rater has to use it; without one, a session has begun.
        """
        username = f"rater-{uuid.uuid4().hex[:8]}"
        session = self.run(ADD_RATER.format(username=username, password=password))
        if password:
            self.passwords[username] = password
        else:
            self.sessions[username] = session
        return username

    def pids(self, part: str) -> list[int]:
        """Return the process ids of the platform's 'gunicorn' or 'celery', parents first."""
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
        """Kill every process of this part with SIGKILL."""
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
        messages = folder / "messages.txt"
        with messages.open("w") as file:  # a pipe that nobody reads would stop the platform when it is full
            process = subprocess.Popen(
                command, cwd=ROOT, env=surroundings, stdout=file, stderr=subprocess.STDOUT
            )
        platform = Platform(f"http://localhost:{port}", surroundings, process, messages)
        try:
            platform.wait_until_it_runs()
            yield platform
        finally:
            platform.stop()


@contextmanager
def throwaway_database(surroundings: dict[str, str]) -> Iterator[None]:
    """Create a database for this platform on PostgreSQL; SQLite has its file in the platform's folder."""
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


@pytest.fixture(scope="package")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Start Touchstone with its demo project, shared by a process's browser tests."""
    weights = tmp_path_factory.mktemp("weights")
    folder = tmp_path_factory.mktemp("platform")
    with running_platform(folder, CLAIM_LEASE_S="5", WEIGHTS_DIR=str(weights)) as started:
        yield started


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, closed before other tests start: Django refuses queries beside Playwright's event loop."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        pytest.skip("needs Chromium; script/test installs it where it may")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield started
        started.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the platform printed beside a browser test that failed."""
    report = yield
    platform = getattr(item, "funcargs", {}).get("platform")
    if report.failed and isinstance(platform, Platform):
        report.sections.append(("Platform", platform.messages.read_text()[-5000:]))
    return report


OpenContext = Callable[..., BrowserContext]


@pytest.fixture
def open_context(browser: Browser, platform: Platform) -> Iterator[OpenContext]:
    """Open browser contexts, one per person, and close them after the test."""
    contexts: list[BrowserContext] = []

    def open_one(**options: object) -> BrowserContext:
        context = browser.new_context(**{"base_url": platform.address, "viewport": DESKTOP, **options})
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        return context

    yield open_one
    for context in contexts:
        context.close()


def resume_session(context: BrowserContext, platform: Platform, session: str) -> None:
    context.add_cookies([{"name": "sessionid", "value": session, "url": platform.address}])


def sign_in(page: Page, platform: Platform, username: str) -> None:
    """Sign in with the form, or enter the demo, the first time, and resume that session later.

    Checking a password is slow.
    """
    if username in platform.sessions:
        resume_session(page.context, platform, platform.sessions[username])
    else:
        if username in platform.passwords:
            sign_in_with_form(page, platform, username)
        else:
            page.goto("/")
            page.locator(f"button[value={username}]").click()
            page.get_by_text("Sign out").wait_for()
        cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
        platform.sessions[username] = cookies["sessionid"]


def sign_in_with_form(page: Page, platform: Platform, username: str) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(platform.passwords[username])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)


def wait_for_next_stage(page: Page, address: str | None, stage: int) -> None:
    """Wait until the page shows another stage or another summary."""
    page.wait_for_function(
        """([address, stage]) => {
          const item = document.getElementById("item");
          if (!item || item.getAttribute("action") !== address) return true;
          return item.elements.stage.value !== String(stage);
        }""",
        arg=[address, stage],
    )


def take_screenshot(page: Page, name: str, *, whole: bool = True) -> None:
    """Save a picture of the whole page, or of its visible part, if the variable SCREENSHOTS is set.

    Pictures go to screenshots/, which git ignores. They take as long as the checks themselves.
    """
    page.wait_for_load_state("load")
    if os.environ.get("SCREENSHOTS"):
        SCREENSHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole)


def check_layout(page: Page, name: str) -> None:
    """Take screenshots at both widths and check that nothing overflows."""
    page.wait_for_load_state("load")
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
        take_screenshot(page, f"{name}-{'phone' if size is PHONE else 'desktop'}")
