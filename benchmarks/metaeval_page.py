"""How long the pages with results take in a large project.

    python -m benchmarks.metaeval_page [--share 1.0 | --summaries 20000] [--repeats 5] [--keep FOLDER]

Makes the project (see seahorse_size.py; `--summaries` have three ratings each) in a fresh SQLite database and
prints, in milliseconds of the server: the snapshot when it is first read and after each kind of change, each
page as a whole, its changing parts after a new rating, all its intervals and tests (the page asks for news
until it waits for nothing), the answer to a page that asks for news when there are none, and the memory of
the process, which is the web server's apart from gunicorn, at rest and at most. Beside the time by the clock
it prints the processor time of the answering thread, which other work disturbs less. With `--keep` the
database stays in the folder for the next time.
"""

import argparse
import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

STAGES = (("comprehensibility",), ("repetition", "grammar"), ("attribution", "main_ideas", "conciseness"))
BATCH = 32
HTMX = {"HTTP_HX_REQUEST": "true"}
POLLS_S = 1.5
STAMP = re.compile(r'name="revision"[^>]* value="([^"]+)"')
PAGES = ("agreement", "comparison")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--summaries", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(options.keep or Path(folder), options.share, options.summaries)
        measure(options.repeats)


def prepare(folder: Path, share: float, summaries: int | None) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    database = folder / f"{summaries or share}.sqlite3"
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "touchstone.settings",
        "TOUCHSTONE_MODE": "local",
        "SECRET_KEY": "benchmark" * 8,
        "DATABASE_URL": f"sqlite:///{database}",
        "VAR_DIR": str(folder),
    }
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import transaction

    from annotation.models import Project
    from benchmarks.seahorse_size import make_project, size, thrice_rated

    call_command("migrate", verbosity=0)
    if not Project.objects.exists():
        began = time.perf_counter()
        with transaction.atomic():
            make_project(thrice_rated(summaries) if summaries else size(share))
        print(f"made in {time.perf_counter() - began:.0f} s: {database.stat().st_size / 1e6:.0f} MB")


def measure(repeats: int) -> None:
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.models import Membership, Project, Rater, Role
    from annotation.people.members import reinstate_rater, remove_rater
    from metaeval.snapshot.snapshot import snapshot_of
    from touchstone.web_server import return_free_memory

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.WHITENOISE_AUTOREFRESH = True  # or the client would look through all static files
    project = Project.objects.get()
    user, _ = User.objects.get_or_create(username="researcher")
    Membership.objects.get_or_create(project=project, user=user, role=Role.RESEARCHER)
    client = Client()
    client.force_login(user)
    raters = list(Rater.objects.filter(project=project).order_by("pk"))
    changes = Changes(raters)
    removed = raters[7]

    def read() -> None:
        snapshot_of(project)

    def page(name: str, **query: object) -> Callable[[], None]:
        def get() -> None:
            answer = client.get(f"/projects/big/{name}/", query, **(HTMX if query else {}))
            assert answer.status_code == (204 if query.get("revision") != -1 and query else 200), answer

        return get

    def whole(name: str) -> list[float]:
        """Return milliseconds after a rating: first answer, slowest answer, all intervals and tests."""
        address = f"/projects/big/{name}/"
        changes.rate()
        began, slowest, known = time.perf_counter(), 0.0, "-1"
        first = 0.0
        while True:
            asked = time.perf_counter()
            answer = client.get(address, {"revision": known}, **HTMX)
            taken = time.perf_counter() - asked
            first, slowest = first or taken, max(slowest, taken)
            if answer.status_code == 200:
                known = STAMP.search(answer.content.decode()).group(1)
            if "-" not in known:
                return [each * 1000 for each in (first, slowest, time.perf_counter() - began)]
            time.sleep(max(0.0, POLLS_S - taken))

    show("snapshot, first read", [timed(read)])
    show("snapshot, nothing new", [timed(read) for _ in range(repeats)])
    show("snapshot, after a rating", [timed(read, changes.rate) for _ in range(repeats)])
    show("snapshot, after a correction", [timed(read, changes.correct) for _ in range(repeats)])
    show(f"snapshot, after {BATCH} scores", [timed(read, changes.score) for _ in range(repeats)])
    show("snapshot, after a rater's removal", [timed(read, lambda: remove_rater(removed))])
    show("snapshot, after a reinstatement", [timed(read, lambda: reinstate_rater(removed))])
    for name in PAGES:
        show(f"{name}: page, first", [timed(page(name))])
        show(f"{name}: page, nothing new", [timed(page(name)) for _ in range(repeats)])
        news = page(name, revision=-1)
        show(f"{name}: parts after a rating", [timed(news, changes.rate) for _ in range(repeats)])
        revision = Project.objects.get().revision
        show(f"{name}: no news (204)", [timed(page(name, revision=revision)) for _ in range(repeats * 10)])
        firsts, slowest, ends = zip(*(whole(name) for _ in range(repeats)), strict=True)
        print(
            f"{name}: after a rating, values in {median(firsts):.0f} ms, all intervals and tests in"
            f" {median(ends):.0f} ms (worst {max(ends):.0f}); slowest answer {max(slowest):.0f} ms",
            flush=True,
        )
    return_free_memory()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    for what in ("VmRSS", "VmHWM"):
        print(f"memory, {what}: {int(status[what].split()[0]) / 1024:.0f} MiB")


class Changes:
    """What raters and workers do, by the actions that they do it with."""

    def __init__(self, raters: list) -> None:
        from annotation.models import Summary

        self._raters = raters
        self._place = 0
        Summary.objects.filter(ratings__isnull=True).update(open_places=1)

    def rate(self) -> None:
        from annotation.rating.assigning import take_assignment
        from annotation.rating.desk import GivenAnswer, desk_at
        from annotation.rating.submitting import submit_at

        self._raters.append(self._raters.pop(0))
        offered = ((rater, take_assignment(rater)) for rater in self._raters)
        rater, assignment = next((rater, taken) for rater, taken in offered if taken is not None)
        for number, keys in enumerate(STAGES, 1):
            given = {key: GivenAnswer("yes") for key in keys}
            submit_at(desk_at(rater, assignment.pk), number, given)

    def correct(self) -> None:
        from annotation.models import Answer
        from annotation.rating.submitting import GivenAnswer, correct_answer

        self._place += 1
        answers = Answer.objects.current().filter(question__key="grammar", value="yes")
        found = answers.select_related("rating__rater").order_by("pk")[self._place]
        correct_answer(found.rating.rater, found.rating_id, "grammar", GivenAnswer("no"))

    def score(self) -> None:
        from annotation.models import Summary
        from scoring.contract.scores import Scored
        from scoring.models import Batch, Run, Setup
        from scoring.runs.claims import claim_batch
        from scoring.runs.worker import record_scores

        self._place += 1
        ids = list(Summary.objects.order_by("pk").values_list("pk", flat=True)[: BATCH * self._place])[
            -BATCH:
        ]
        run = Run.objects.create(setup=Setup.objects.first(), total=BATCH)
        Batch.objects.create(run=run, number=1, summary_ids=ids, size=BATCH)
        claim = claim_batch(run.pk)
        assert claim is not None
        inputs = dict.fromkeys(ids, f"text {self._place}")
        assert record_scores(claim, {pk: Scored({"general": float(pk % 7)}) for pk in ids}, inputs)


def timed(act: Callable[[], None], change: Callable[[], None] | None = None) -> tuple[float, float]:
    """Return wall milliseconds, and CPU milliseconds of the thread that answers."""
    if change is not None:
        change()
    began, worked = time.perf_counter(), time.thread_time()
    act()
    return (time.perf_counter() - began) * 1000, (time.thread_time() - worked) * 1000


def show(what: str, taken: list[tuple[float, float]]) -> None:
    clock, processor = zip(*taken, strict=True)
    print(
        f"{what:36} {median(clock):8.1f} ms (worst of {len(taken)}: {max(clock):.1f});"
        f" processor {median(processor):.1f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()
