"""Touchstone in the web benchmarks: what `script/up` runs, on SQLite or PostgreSQL.

Another web server is a line in `SERVERS`. Its tasks, workers and data stay the product's.
"""

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from benchmarks.web.load import HOST, PASSWORD, Client, Connection, OutOfItems
from benchmarks.web.tools import ARTICLE, ROOT, SUMMARY, Campaign, Tool, free_port, output_of

GUNICORN = (
    "{python} -m gunicorn touchstone.wsgi:application --bind fd://{listening} --preload --log-level warning"
)
# What replaces the command of `web_server` in script/serve.py. None leaves the product's own.
SERVERS: dict[str, str | None] = {
    "own": None,
    "gunicorn-threads": f"{GUNICORN} --worker-class gthread --workers 2 --threads 4 --keep-alive 75",
    "gunicorn-processes": f"{GUNICORN} --worker-class gthread --workers 4 --threads 1 --keep-alive 75",
}
SERVE = """
import sys
sys.path.insert(0, {scripts!r})
import serve
if {command!r}:
    serve.web_server = lambda fd: {command!r}.format(python=sys.executable, listening=fd).split()
sys.exit(serve.main())
"""
CAMPAIGN = """
import random
from django.contrib.auth.models import User
from annotation.projects.settings import create_project
from annotation.models import Article, Rater, Summary, System
from annotation.protocol import SEAHORSE
project = create_project("Benchmark", SEAHORSE, slug="benchmark")
system = System.objects.create(project=project, name="system")
chance = random.Random(1)
for start in range(0, {items}, 5000):
    articles = Article.objects.bulk_create(
        Article(project=project, external_id=f"a{{n}}", language="en", text="{article}")
        for n in range(start, min(start + 5000, {items}))
    )
    Summary.objects.bulk_create(
        Summary(project=project, article=article, system=system, text="{summary}",
                shuffle_key=chance.randrange(2**31))
        for article in articles
    )
for n in range({raters}):
    user = User.objects.create_user(f"rater{{n}}", password="{password}")
    rater = Rater.objects.create(
        project=project, user=user, pseudonym=f"r{{n}}", languages=["en"], status="qualified"
    )
    rater.qualifications.create(language="en", since=rater.joined_at)
"""
STORED = """
from annotation.models import Rating
print(Rating.objects.filter(completed_at__isnull=False).count())
"""
TOO_OFTEN = """
from django.db.models import Count, F
from annotation.models import Summary
print(Summary.objects.annotate(n=Count("ratings")).filter(n__gt=F("ratings_wanted")).count())
"""
DATABASE = sql.Identifier("touchstone_web_benchmark")
STAGES = (("comprehensibility",), ("repetition", "grammar"), ("attribution", "main_ideas", "conciseness"))


class TouchstoneClient:
    """A step is a submission of each stage. The last one brings the next summary."""

    def __init__(self, port: int, n: int) -> None:
        self.connection = Connection(port)
        self.page = self.connection.request("GET", "/sign-in/")
        form = {"username": f"rater{n}", "password": PASSWORD, **self.token()}
        self.connection.request("POST", "/sign-in/", form=form, expect=(302,))

    def token(self) -> dict[str, str]:
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.page)
        if found is None:
            raise ValueError(f"no form: {self.page[:300]}")
        return {"csrfmiddlewaretoken": found[1]}

    def open(self) -> None:
        self.connection.request("GET", "/projects/benchmark/rate/", expect=(302,))
        self.page = self.connection.request("GET", self.connection.location)
        self.connection.take_times()

    def step(self) -> list[float]:
        for stage, questions in enumerate(STAGES, 1):
            found = re.search(r'action="(/projects/benchmark/rate/\d+/)"', self.page)
            if found is None:
                raise OutOfItems
            form = {f"answer-{question}": "yes" for question in questions}
            form |= {"stage": str(stage), **self.token()}
            self.page = self.connection.request("POST", found[1], form=form, headers={"HX-Request": "true"})
        return self.connection.take_times()


class Touchstone(Tool):
    """The server and workers of this checkout."""

    def __init__(self, environments: Path, server: str, postgresql: str = "") -> None:
        self.name = "touchstone"
        super().__init__(environments)
        self.server = server
        self.postgresql = postgresql
        self.settings: dict[str, str] = {}

    def install(self) -> None:
        """This environment runs the benchmark, so it is there."""

    def start(self, folder: Path, campaign: Campaign) -> None:
        self.port = free_port()
        self.settings = {
            "VAR_DIR": str(folder),
            "TOUCHSTONE_MODE": "local",
            "SECRET_KEY": PASSWORD,
            "PYTHONPATH": str(ROOT),
        }
        if self.postgresql:
            self._recreate_database()
            address, _, _ = self.postgresql.rpartition("/")
            self.settings["DATABASE_URL"] = f"{address}/{DATABASE.as_string()}".replace('"', "")
        command = [
            sys.executable,
            "-c",
            SERVE.format(command=SERVERS[self.server], scripts=str(ROOT / "script")),
        ]
        self.run(
            [*command, "--no-demo", "--port", str(self.port)],
            folder,
            self.settings,
            f"http://{HOST}:{self.port}/healthz",
        )
        self.shell(
            CAMPAIGN.format(
                items=campaign.items,
                raters=campaign.raters,
                article=ARTICLE,
                summary=SUMMARY,
                password=PASSWORD,
            )
        )
        if self.postgresql:
            self._analyse()

    def sign_in(self) -> Callable[[int], Client]:
        return partial(TouchstoneClient, self.port)

    def watched(self) -> tuple[int, list[int]]:
        # script/serve.py starts the web server first.
        web, *workers = sorted(
            psutil.Process(self.processes[0].pid).children(), key=lambda child: child.create_time()
        )
        return web.pid, [worker.pid for worker in workers]

    def stored(self) -> int:
        return int(self.shell(STORED))

    def given_too_often(self) -> int:
        return int(self.shell(TOO_OFTEN))

    def stop(self) -> None:
        super().stop()
        if self.postgresql:
            with psycopg.connect(self.postgresql, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(DATABASE))

    def shell(self, code: str) -> str:
        command: list[str | Path] = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
        return output_of(command, ROOT, self.settings)

    def _recreate_database(self) -> None:
        with psycopg.connect(self.postgresql, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(DATABASE))
            connection.execute(sql.SQL("CREATE DATABASE {}").format(DATABASE))

    def _analyse(self) -> None:
        # Autovacuum would do so within a minute.
        with psycopg.connect(self.settings["DATABASE_URL"], autocommit=True) as connection:
            connection.execute("ANALYZE")
