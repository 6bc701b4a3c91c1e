"""The first steps of docs/operators.md: production with nginx, PostgreSQL and Redis, to the first rating."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, HTTPSHandler, Request, build_opener

import pytest
from django.conf import settings
from django.db import connection
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import reverse

from annotation.models import ImportJob, Rater, Rating
from scoring.models import Worker
from tests.factories import PASSWORD
from tests.scoring.processes import PATIENCE_S, ROOT, surroundings, wait_for
from tests.touchstone.test_web_server import Proxy, free_port, running_nginx

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.thorough,
]

HOST = "rate.example.org"
CODE = ("touchstone", "annotation", "scoring", "metaeval", "templates", "static")
QUEUES = ["cpu", "gpu", "llm", "training"]
ARTICLE = {"article_id": "1", "language": "en", "article": "What happened.", "system": "a", "summary": "It."}


class Visitor:
    """A browser at the proxy, which keeps cookies and sends forms as pages make them."""

    def __init__(self, proxy: Proxy) -> None:
        self.port = proxy.port
        self.opener = build_opener(HTTPSHandler(context=proxy.trusting), HTTPCookieProcessor())
        self.path = self.page = ""

    def open(self, path: str, **form: object) -> str:
        """Open an address, or send a form to it, and return the page to which it leads."""
        request = Request(f"https://127.0.0.1:{self.port}{path}", headers={"Host": HOST})
        if form:
            (token, *_) = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', self.page)
            request.data = encode_multipart(BOUNDARY, {"csrfmiddlewaretoken": token, **form})
            request.add_header("Content-Type", MULTIPART_CONTENT)
            request.add_header("Referer", f"https://{HOST}{path}")
        with closing(self._answer(request)) as answer:
            self.page = answer.read().decode()
            self.path = urlsplit(answer.url).path
        return self.page

    def _answer(self, request: Request) -> HTTPResponse:
        try:
            return self.opener.open(request, timeout=PATIENCE_S)
        except HTTPError as refused:
            refused.add_note(refused.read().decode())
            raise


def documented(program: str) -> list[list[str]]:
    """Return the commands of the first steps that begin with this program."""
    page = (ROOT / "docs" / "operators.md").read_text().replace("\\\n", "")
    steps = page.partition("**First steps.**")[2].partition("\n**")[0]
    return [shlex.split(line) for line in re.findall(rf"^    ({program}\b.*)$", steps, re.MULTILINE)]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return production's variables, with a secret in a file; skip without PostgreSQL and Redis."""
    if connection.vendor != "postgresql" or not settings.CELERY_BROKER_URL.startswith("redis:"):
        pytest.skip("needs PostgreSQL and Redis: DATABASE_URL and BROKER_URL")
    (tmp_path / "secret_key").write_text("k9$Vw2" * 12)
    environment = surroundings(
        tmp_path / "var",
        TOUCHSTONE_MODE="production",
        SECRET_KEY_FILE=str(tmp_path / "secret_key"),
        ALLOWED_HOSTS=HOST,
        BEHIND_HTTPS_PROXY="true",
        BROKER_URL=settings.CELERY_BROKER_URL,
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )
    environment.pop("SECRET_KEY", None)
    return environment


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Return a fresh copy of the code, in which static files are collected."""
    for name in CODE:
        shutil.copytree(ROOT / name, tmp_path / "code" / name)
    shutil.copy(ROOT / "manage.py", tmp_path / "code")
    return tmp_path / "code"


@contextmanager
def running(
    commands: list[list[str]], code: Path, environment: dict[str, str]
) -> Iterator[list[subprocess.Popen]]:
    """Start the commands; at the end SIGTERM must end each in order."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=code,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        for command in commands
    ]
    try:
        yield processes
        for process in processes:
            process.terminate()
        assert [process.wait(PATIENCE_S) for process in processes] == [0] * len(processes)
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_the_first_steps_lead_to_a_rating(environment, code, tmp_path):
    for _, *command in documented("python manage.py"):
        if "migrate" in command:
            continue  # the test's database has its tables
        if "createsuperuser" in command:
            command += ["--noinput", "--username", "ada", "--email", "ada@example.org"]
        done = subprocess.run(
            [sys.executable, *command], cwd=code, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)

    port = free_port()
    (server,) = documented("gunicorn")
    server[server.index("--bind") + 1] = f"127.0.0.1:{port}"
    workers = documented("celery -A touchstone worker")
    (clock,) = documented("celery -A touchstone beat")
    log = tmp_path / "beat.log"
    commands = [server, *workers, [*clock, "--loglevel", "info", "--logfile", str(log)]]
    with running_nginx(tmp_path, port) as (proxy, nginx), running(commands, code, environment) as processes:
        wait_for(proxy.answers, processes[0])
        assert json.loads(Visitor(proxy).open("/healthz")) == dict.fromkeys(
            ("database", "broker", "disk"), "ok"
        )
        assert json.loads(Visitor(proxy).open("/readyz")) == {"database": "ok"}
        wait_for(lambda: Worker.objects.count() == len(workers), nginx)
        assert sorted(Worker.objects.values_list("queues", flat=True)) == [[queue] for queue in QUEUES]

        manager = Visitor(proxy)
        manager.open(reverse("sign_in"))
        manager.open(reverse("sign_in"), username="ada", password=PASSWORD, next="")
        manager.open(reverse("project_new"))
        manager.open(
            reverse("project_new"), name="News", slug="news", questionnaire="seahorse", redundancy="1"
        )
        import_a_file(manager, tmp_path / "news.jsonl")
        job = ImportJob.objects.get()
        wait_for(lambda: has_ended(job), nginx)
        assert job.status == ImportJob.Status.DONE, (job.failure, job.errors)

        manager.open(reverse("people", args=["news"]))
        page = manager.open(
            reverse("people", args=["news"]), role="annotator", people="ann@example.org, annotator, en"
        )
        (link,) = set(re.findall(rf"https://{HOST}(/[\w/-]+)", page))
        rater = Visitor(proxy)
        rater.open(link)
        rater.open(link, username="ann", password1=PASSWORD, password2=PASSWORD)
        of_rater = ["news", Rater.objects.get().pk]
        manager.open(reverse("rater_qualification", args=of_rater))
        manager.open(reverse("rater_qualify", args=of_rater), language="en")
        rate(rater)
        assert Rating.objects.countable().count() == 1
        wait_for(lambda: "Sending due task sweep" in log.read_text(), nginx)
    assert not Worker.objects.exists()


def import_a_file(manager: Visitor, path: Path) -> None:
    path.write_text(json.dumps(ARTICLE))
    address = reverse("imports", args=["news"])
    manager.open(f"{address}?format=examples")
    with path.open("rb") as file:
        manager.open(address, format="examples", language="en", rater="x", file=file)


def has_ended(job: ImportJob) -> bool:
    job.refresh_from_db()
    return job.status not in (ImportJob.Status.QUEUED, ImportJob.Status.RUNNING)


def rate(rater: Visitor) -> None:
    """Answer every question that is asked with yes."""
    page = rater.open(reverse("rate", args=["news"]))
    assert "answer-" in page
    while keys := set(re.findall(r'name="answer-(\w+)"', page)):
        (stage,) = re.findall(r'name="stage" value="(\d)"', page)
        page = rater.open(rater.path, stage=stage, **{f"answer-{key}": "yes" for key in keys})
