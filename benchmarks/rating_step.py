"""How long a rater waits: eight raters at once over HTTP on the embedded defaults.

    .venv/bin/python benchmarks/rating_step.py [--summaries 100000] [--raters 8] [--seconds 20]

A step is the six answers of one summary in three submissions, the last of which brings the next summary.
Prints steps a second, the median and 95th percentile of a step and of a request, errors, and how many
summaries got more ratings than they want (which must be 0).
"""

import argparse
import http.client
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PORT = 8765
PASSWORD = "benchmark-password"
CAMPAIGN = """
import random
from django.contrib.auth.models import User
from annotation.projects.settings import create_project
from annotation.models import Article, Rater, Summary, System
from annotation.protocol import SEAHORSE
project = create_project("Benchmark", SEAHORSE, slug="benchmark")
system = System.objects.create(project=project, name="system")
chance = random.Random(1)
for start in range(0, {summaries}, 5000):
    articles = Article.objects.bulk_create(
        Article(project=project, external_id=f"a{{n}}", language="en", text="Word after word. " * 130)
        for n in range(start, min(start + 5000, {summaries}))
    )
    Summary.objects.bulk_create(
        Summary(project=project, article=article, system=system, text="A summary of it. " * 8,
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
CHECK = """
from django.db.models import Count, F
from annotation.models import Rating, Summary
over = Summary.objects.annotate(n=Count("ratings")).filter(n__gt=F("ratings_wanted")).count()
print(Rating.objects.filter(completed_at__isnull=False).count(), over)
"""
STAGES = (("comprehensibility",), ("repetition", "grammar"), ("attribution", "main_ideas", "conciseness"))


class RaterClient:
    """One signed-in rater on one kept connection."""

    def __init__(self, username: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        self.cookies: dict[str, str] = {}
        page = self.request("GET", "/sign-in/")
        self.request(
            "POST", "/sign-in/", {"username": username, "password": PASSWORD, **self.token(page)}, expect=302
        )
        self.request("GET", "/projects/benchmark/rate/", expect=302)
        self.page = self.request("GET", self.location)

    def token(self, page: str) -> dict[str, str]:
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert found is not None
        self.csrf = found[1]
        return {"csrfmiddlewaretoken": self.csrf}

    def request(self, method: str, path: str, form: dict[str, str] | None = None, expect: int = 200) -> str:
        headers = {
            "Host": f"localhost:{PORT}",
            "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()),
        }
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            if "stage" in form:
                headers["HX-Request"] = "true"
        self.connection.request(method, path, urllib.parse.urlencode(form or {}) or None, headers)
        response = self.connection.getresponse()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, rest = cookie.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        self.location = response.headers.get("Location", "")
        body = response.read().decode()
        if response.status != expect:
            raise RuntimeError(f"{method} {path}: {response.status}, expected {expect}: {body[:300]}")
        return body

    def step(self) -> list[float]:
        """Rate the summary at hand; the seconds of each request."""
        taken = []
        for stage, questions in enumerate(STAGES, 1):
            found = re.search(r'action="(/projects/benchmark/rate/\d+/)"', self.page)
            assert found is not None
            form = {f"answer-{question}": "yes" for question in questions}
            form |= {"stage": str(stage), **self.token(self.page)}
            began = time.perf_counter()
            self.page = self.request("POST", found[1], form)
            taken.append(time.perf_counter() - began)
        return taken


def shell(code: str, environment: dict[str, str]) -> str:
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def rate_for(seconds: float, raters: int) -> tuple[list[list[float]], list[str], float]:
    clients = [RaterClient(f"rater{n}") for n in range(raters)]
    steps: list[list[float]] = []
    errors: list[str] = []
    stop_at = time.perf_counter() + seconds

    def work(client: RaterClient) -> None:
        try:
            while time.perf_counter() < stop_at:
                steps.append(client.step())
        except Exception as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return steps, errors, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--summaries", type=int, default=100_000)
    parser.add_argument("--raters", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "VAR_DIR": folder}
        server = subprocess.Popen(
            [sys.executable, "script/serve.py", "--no-demo", "--port", str(PORT)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            while "Ctrl-C" not in (server.stdout.readline() or "Ctrl-C"):
                pass
            shell(
                CAMPAIGN.format(summaries=options.summaries, raters=options.raters, password=PASSWORD),
                environment,
            )
            for raters in (1, options.raters):
                steps, errors, seconds = rate_for(options.seconds, raters)
                report(raters, steps, errors, seconds)
            finished, over = shell(CHECK, environment).split()
            print(f"{finished} ratings stored, {over} summaries rated more often than wanted")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


def report(raters: int, steps: list[list[float]], errors: list[str], seconds: float) -> None:
    whole = sorted(sum(step) * 1000 for step in steps)
    single = sorted(request * 1000 for step in steps for request in step)
    print(
        f"{raters} at once: {len(steps) / seconds:.1f} steps/s; "
        f"a step {statistics.median(whole):.0f} ms (p95 {whole[int(len(whole) * 0.95)]:.0f}); "
        f"a request {statistics.median(single):.0f} ms (p95 {single[int(len(single) * 0.95)]:.0f}); "
        f"{len(errors)} errors{': ' + errors[0] if errors else ''}"
    )


if __name__ == "__main__":
    main()
