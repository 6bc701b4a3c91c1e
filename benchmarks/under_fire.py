"""Random faults while people rate, workers score and a manager acts; then, whether anything was lost.

    .venv/bin/python -m benchmarks.under_fire [--schedules 10] [--seed 1] [--database postgresql]

Each schedule starts what `script/up` starts, on fresh data, and draws its faults from its seed. Processes of
the web server and of the workers, the clock among them, are killed, or stopped for a while. Connections to
PostgreSQL are cut; on SQLite the turn to write is held, and the broker's file. Raters send each stage until
it is acknowledged, as the rating page does.

Afterwards every acknowledged answer has to be stored once and every act to be in the audit log once, every
run has to be complete, and `manage.py check_integrity` must find nothing. A schedule that fails is repeated
with fewer faults, and the fewest that still fail are printed. Exits with 1 if any failed.
"""

import argparse
import fcntl
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg
import requests

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.web.tools import free_port  # noqa: E402 - after the path

PASSWORD = "under-fire-password"
LEASE_S = 5
GRACE_S = 180
"""Seconds after the last fault within which everything has to be done."""
PAUSE_S = 0.2
KINDS = (
    "kill web master",
    "kill web process",
    "stop web process",
    "kill workers",
    "kill worker process",
    "stop worker process",
    "hold database",
    "hold broker",
)
SET_UP = """
import random
from django.contrib.auth.models import User
from annotation.models import Article, Membership, Rater, Summary, System
from annotation.projects.settings import create_project
from annotation.protocol import SEAHORSE
project = create_project("Under fire", SEAHORSE, slug="fire")
manager = User.objects.create_user("manager", password="{password}")
Membership.objects.create(project=project, user=manager, role="manager")
system = System.objects.create(project=project, name="system")
chance = random.Random(1)
for n in range({summaries}):
    article = Article.objects.create(
        project=project, external_id=f"a{{n}}", language="en", text=f"Article {{n}}. It has two sentences."
    )
    Summary.objects.create(
        project=project, article=article, system=system, text=f"Summary {{n}}.",
        shuffle_key=chance.randrange(2**31),
    )
for n in range({raters}):
    user = User.objects.create_user(f"rater{{n}}", password="{password}")
    rater = Rater.objects.create(
        project=project, user=user, pseudonym=f"r{{n}}", languages=["en"], status="qualified"
    )
    rater.qualifications.create(language="en", since=rater.joined_at)
"""
ACTS = """
import json, random, sys, threading
from django.contrib.auth.models import User
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from annotation.audit.log import acting_as
from annotation.errors import DomainError
from annotation.models import Project, Rater, Rating, Summary
from annotation.people.members import reinstate_rater, remove_rater
from annotation.rating.voiding import restore_rating, void_rating
from annotation.summaries.withdrawing import restore_summary, withdraw_summary
from scoring.runs.planning import plan_run

ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
chance = random.Random({seed})
manager, project = User.objects.get(username="manager"), Project.objects.get(slug="fire")
acts = {{
    "rating_voided": lambda: void_rating(
        project, manager, one(Rating.objects.filter(voided_at=None, completed_at__isnull=False)), "a test"
    ),
    "rating_restored": lambda: restore_rating(project, manager, one(Rating.objects.exclude(voided_at=None))),
    "summary_withdrawn": lambda: withdraw_summary(
        project, manager, one(Summary.objects.filter(withdrawn_at=None))
    ),
    "summary_restored": lambda: restore_summary(
        project, manager, one(Summary.objects.exclude(withdrawn_at=None))
    ),
    "rater_removed": lambda: remove_rater(
        Rater.objects.get(pk=one(Rater.objects.exclude(status="removed"))), "a test"
    ),
    "rater_reinstated": lambda: reinstate_rater(
        Rater.objects.get(pk=one(Rater.objects.filter(status="removed")))
    ),
    "run": lambda: plan_run(project, chance.choice(["length", "copy_rate", "rouge_article"]), {{}}),
}}

def one(rows):
    ids = list(rows.values_list("pk", flat=True)[:200])
    if not ids:
        raise DomainError("none")
    return chance.choice(ids)

while not ended.wait(chance.uniform(0, 1)):
    name = chance.choice(list(acts))
    try:
        with acting_as(lambda: manager):
            acts[name]()
        outcome = "done"
    except DomainError:
        continue
    except (DatabaseError, InterfaceError):
        connection.close()
        outcome = "unknown"  # the commit may have reached the database
    print(json.dumps([name, outcome]), flush=True)
"""
BACK = """
from annotation.models import Rater
from annotation.people.members import reinstate_rater
for rater in Rater.objects.filter(status="removed"):
    reinstate_rater(rater)
"""
UNFINISHED = """
from scoring.models import Run
print(Run.objects.filter(status__in=Run.UNFINISHED).count())
"""
FOUND = """
import json
from collections import Counter
from annotation.models import Answer, AuditEntry
from scoring.models import Run, Score
from django.db.models import F
answers = Answer.objects.values_list("rating__assignment", "question__key", "value", "revision")
print(json.dumps({{
    "answers": list(answers),
    "acts": Counter(AuditEntry.objects.filter(actor__username="manager").values_list("action", flat=True)),
    "unfinished": list(Run.objects.exclude(status="done").values_list("pk", "status", "failure")),
}}))
"""


@dataclass(frozen=True)
class Fault:
    at_s: float
    kind: str
    seconds: float
    """Time for which something is stopped or held."""
    choice: float
    """Which of several processes, from 0 to 1."""

    def __str__(self) -> str:
        return f"{self.at_s:.1f} s {self.kind}" + (
            f" {self.seconds:.1f} s" if "kill" not in self.kind else ""
        )


@dataclass
class Acknowledged:
    """What the web server has said it stored: by assignment and question, the values in their order."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    values: dict[tuple[int, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    stages: int = 0
    retries: int = 0
    statuses: Counter[int] = field(default_factory=Counter)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--schedules", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the first schedule")
    parser.add_argument("--seconds", type=float, default=20, help="of faults in a schedule")
    parser.add_argument("--faults", type=int, default=8)
    parser.add_argument("--raters", type=int, default=8)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--postgresql", default="postgres://postgres@127.0.0.1:5432/postgres", metavar="URL")
    options = parser.parse_args()
    failed = 0
    for seed in range(options.seed, options.seed + options.schedules):
        faults = drawn(seed, options.faults, options.seconds)
        problems, told = tried(options, seed, faults)
        print(f"schedule {seed}: {'FAILED' if problems else 'sound'}; {told}", flush=True)
        if not problems:
            continue
        failed += 1
        print(*(f"  {problem}" for problem in problems), sep="\n")
        shortest = shrunk(faults, lambda fewer, seed=seed: bool(tried(options, seed, fewer)[0]))
        print("  The fewest faults that fail: ", "; ".join(map(str, shortest)), flush=True)
    print(f"{options.schedules} schedules on {options.database}, {failed} failed")
    return 1 if failed else 0


def drawn(seed: int, number: int, seconds: float) -> list[Fault]:
    chance = random.Random(seed)
    times = sorted(chance.uniform(1, seconds) for _ in range(number))
    return [
        Fault(at, chance.choice(KINDS), chance.uniform(0.5, LEASE_S + 2), chance.random()) for at in times
    ]


def shrunk(faults: Sequence[Fault], fails: Callable[[Sequence[Fault]], bool]) -> Sequence[Fault]:
    """Return faults of which none can be left out without the schedule passing, in one attempt for each."""
    for fault in faults:
        fewer = [each for each in faults if each != fault]
        if fails(fewer):
            faults = fewer
    return faults


def tried(options: argparse.Namespace, seed: int, faults: Sequence[Fault]) -> tuple[list[str], str]:
    """Run a schedule. Return what is wrong afterwards, and what happened."""
    acknowledged = Acknowledged()
    with tempfile.TemporaryDirectory() as name, database(options) as url:
        site = Site(Path(name), url)
        try:
            site.start()
            site.shell(
                SET_UP.format(password=PASSWORD, summaries=150 * options.raters, raters=options.raters)
            )
            ending = threading.Event()
            raters = [
                threading.Thread(target=rate, args=(site, n, seed, acknowledged, ending), daemon=True)
                for n in range(options.raters)
            ]
            acting = site.popen(ACTS.format(seed=seed))
            for rater in raters:
                rater.start()
            begun = time.monotonic()
            for fault in faults:
                time.sleep(max(0.0, begun + fault.at_s - time.monotonic()))
                site.suffer(fault)
            time.sleep(max(0.0, begun + options.seconds - time.monotonic()))
            site.recover()
            acts = [json.loads(line) for line in acting.communicate(timeout=GRACE_S)[0].splitlines()]
            site.shell(BACK)
            time.sleep(2)  # those who were removed rate once more
            ending.set()
            for rater in raters:
                rater.join(GRACE_S)
            problems = [f"{rater.name} never got an answer" for rater in raters if rater.is_alive()]
            problems += site.unfinished_after(GRACE_S)
            problems += problems_of(json.loads(site.shell(FOUND.format())), acknowledged, acts)
            problems += site.integrity()
        finally:
            site.stop()
    told = (
        f"{len(faults)} faults, {acknowledged.stages} stages acknowledged, {acknowledged.retries} sent again"
    )
    told += f", {len(acts)} acts, answers by status {dict(sorted(acknowledged.statuses.items()))}"
    return problems, told


def problems_of(found: dict[str, object], acknowledged: Acknowledged, acts: list[list[str]]) -> list[str]:
    """Compare what the database has with what was acknowledged."""
    stored: dict[tuple[int, str], list[str]] = defaultdict(list)
    for assignment, question, value, _ in sorted(found["answers"], key=lambda row: row[3]):  # type: ignore[call-overload]
        stored[assignment, question].append(value)
    problems = [
        f"assignment {key[0]}, {key[1]}: acknowledged {values}, stored {stored[key]}"
        for key, values in acknowledged.values.items()
        if stored[key] != values
    ]
    entries: dict[str, int] = found["acts"]  # type: ignore[assignment]
    for name in {name for name, _ in acts} - {"run"}:
        done, unknown = (sum(act == [name, outcome] for act in acts) for outcome in ("done", "unknown"))
        if not done <= entries.get(name, 0) <= done + unknown:
            problems.append(
                f"{name}: {done} done, {unknown} unknown, {entries.get(name, 0)} in the audit log"
            )
    problems += [f"run {pk} is {status}: {failure}" for pk, status, failure in found["unfinished"]]  # type: ignore[attr-defined]
    return problems


def rate(site: "Site", number: int, seed: int, acknowledged: Acknowledged, ending: threading.Event) -> None:
    """Rate until the end, sending what gets no answer again."""
    chance = random.Random(f"{seed} {number}")
    session = requests.Session()

    def ask(method: str, path: str, **options: object) -> requests.Response:
        for attempt in range(int(GRACE_S / PAUSE_S)):
            with acknowledged.lock:
                acknowledged.retries += attempt > 0
            with suppress(requests.RequestException):
                response = session.request(method, f"{site.address}{path}", timeout=60, **options)  # type: ignore[arg-type]
                with acknowledged.lock:
                    acknowledged.statuses[response.status_code] += 1
                if response.status_code < 500:
                    return response
            time.sleep(PAUSE_S)
        raise TimeoutError(path)

    while not ending.is_set():
        page = ask("GET", "/projects/fire/rate/")
        if "/sign-in/" in page.url:
            form = {"username": f"rater{number}", "password": PASSWORD, **token(page.text)}
            ask("POST", "/sign-in/", data=form, headers={"Referer": page.url})
            continue
        while not ending.is_set() and (
            action := re.search(r'action="(/projects/fire/rate/(\d+)/)"', page.text)
        ):
            stage = re.search(r'name="stage" value="(\d)"', page.text)
            assert stage is not None
            questions = sorted(set(re.findall(r'name="answer-(\w+)"', page.text)))
            answers = {question: chance.choice(["yes", "yes", "no", "unsure"]) for question in questions}
            form = {f"answer-{question}": value for question, value in answers.items()}
            form |= {"stage": stage[1], **token(page.text)}
            page = ask("POST", action[1], data=form, headers={"HX-Request": "true"})
            if page.status_code != 200:
                break  # the summary was withdrawn, or the rater removed
            with acknowledged.lock:
                acknowledged.stages += 1
                for question, value in answers.items():
                    acknowledged.values[int(action[2]), question].append(value)
        else:
            time.sleep(PAUSE_S)


def token(page: str) -> dict[str, str]:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    return {"csrfmiddlewaretoken": found[1]} if found else {}


class Site:
    """Touchstone as `script/up` starts it, and the faults that happen to it."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.folder = folder
        self.database_url = database_url
        self.port = free_port()
        self.address = f"http://localhost:{self.port}"
        self.environment = {
            **os.environ,
            "VAR_DIR": str(folder),
            "TOUCHSTONE_MODE": "local",
            "SECRET_KEY": PASSWORD,
            "CLAIM_LEASE_S": str(LEASE_S),
            **({"DATABASE_URL": database_url} if database_url else {}),
        }
        self.stopped: list[psutil.Process] = []
        self.holding: list[threading.Thread] = []

    def start(self) -> None:
        command = [sys.executable, "script/serve.py", "--no-demo", "--port", str(self.port)]
        messages = (self.folder / "messages.txt").open("w")
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, stdout=messages, stderr=messages
        )
        while "Ctrl-C stops it" not in (self.folder / "messages.txt").read_text():
            if self.process.poll() is not None:
                raise RuntimeError((self.folder / "messages.txt").read_text())
            time.sleep(0.1)

    def stop(self) -> None:
        self.recover()
        self.process.terminate()
        self.process.wait()

    def popen(self, code: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
        )

    def shell(self, code: str) -> str:
        process = self.popen(code)
        printed, errors = process.communicate()
        if process.returncode:
            raise RuntimeError(errors)
        return printed

    def suffer(self, fault: Fault) -> None:
        if fault.kind == "hold broker":
            self._hold(self._hold_file, self.folder / "broker.sqlite3", fault.seconds)
        elif fault.kind == "hold database":
            if self.database_url:
                self._cut_connections()
            else:
                self._hold(self._hold_turn, fault.seconds)
        else:
            found = self._processes(fault.kind)
            if found:
                chosen = found[int(fault.choice * len(found))]
                with suppress(psutil.NoSuchProcess):
                    if fault.kind.startswith("kill"):
                        chosen.kill()
                    else:
                        self._stop_for(chosen, fault.seconds)

    def recover(self) -> None:
        """End what is still stopped or held."""
        for thread in self.holding:
            thread.join()
        for process in self.stopped:
            with suppress(psutil.NoSuchProcess):
                process.resume()
        self.stopped.clear()

    def unfinished_after(self, seconds: float) -> list[str]:
        deadline = time.monotonic() + seconds
        while int(self.shell(UNFINISHED)):
            if time.monotonic() > deadline:
                return ["runs do not end"]
            time.sleep(1)
        return []

    def integrity(self) -> list[str]:
        command = [sys.executable, "manage.py", "check_integrity"]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        return [line for line in done.stdout.splitlines() if "FOUND" in line] if done.returncode else []

    def _processes(self, kind: str) -> list[psutil.Process]:
        """Return the processes that the fault may hit."""
        part = "gunicorn" if "web" in kind else "celery"
        masters, others = [], []
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if part in process.cmdline() and "end_with_parent.py" not in " ".join(process.cmdline()):
                    parent = process.parent()
                    is_first = parent is not None and "end_with_parent.py" in " ".join(parent.cmdline())
                    (masters if is_first else others).append(process)
        return masters if kind in ("kill web master", "kill workers") else others

    def _stop_for(self, process: psutil.Process, seconds: float) -> None:
        process.suspend()
        self.stopped.append(process)

        def go_on() -> None:
            with suppress(psutil.NoSuchProcess):
                process.resume()

        threading.Timer(seconds, go_on).start()

    def _hold(self, hold: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=hold, args=arguments)
        thread.start()
        self.holding.append(thread)

    def _hold_turn(self, seconds: float) -> None:
        """Let nobody write for a while, as a writer that hangs does."""
        with (self.folder / "touchstone.sqlite3-turn").open("a") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            time.sleep(seconds)

    def _hold_file(self, path: Path, seconds: float) -> None:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as held:
            held.execute("BEGIN EXCLUSIVE")
            time.sleep(seconds)

    def _cut_connections(self) -> None:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@contextmanager
def database(options: argparse.Namespace) -> Iterator[str]:
    """Create a database and return its address; empty for SQLite, whose file is in the site's folder."""
    if options.database == "sqlite":
        yield ""
        return
    name = f"under_fire_{os.getpid()}"
    drop = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    with psycopg.connect(options.postgresql, autocommit=True) as server:
        server.execute(drop)
        server.execute(f'CREATE DATABASE "{name}"')
    yield urlunsplit(urlsplit(options.postgresql)._replace(path=f"/{name}"))
    with psycopg.connect(options.postgresql, autocommit=True) as server:
        server.execute(drop)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
