"""Scores that a worker stores per CPU second: `python benchmarks/stored_scores.py [--database URL]`.

Makes a project with made-up articles of 16 systems and a reference in an empty database, queues a run of each
evaluator and works on it in this process, as a worker does, until the run is done. Prints, for each
evaluator, the scores, the CPU seconds of this process from the queued to the finished run, scores per CPU
second (medians of the rounds), and the evaluator's own share of the CPU. The database is SQLite in a
temporary folder, or a new one on the PostgreSQL server at URL (postgres://user@host/postgres), deleted at the
end; the server's CPU is not counted. The budget is 5,000 scores.
"""

import argparse
import os
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit, urlunsplit

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

BUDGET = 5_000
EVALUATORS = {"length": {}, "rouge": {"variant": "1"}}
ROUNDS, ARTICLES, SYSTEMS = 5, 1_000, 16


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """Yield the address of an empty database; delete it at the end."""
    if not server:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/scores.sqlite3"
        return
    import psycopg

    name = f"stored_scores_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def made_up_project(articles: int) -> object:
    from annotation.models import Article, Project, Summary, System
    from annotation.projects.settings import create_project
    from annotation.protocol import SEAHORSE

    words = [f"word{number}" for number in range(3_000)]
    chance = random.Random(0)
    project: Project = create_project("Stored scores", SEAHORSE)
    texts = Article.objects.bulk_create(
        Article(project=project, external_id=f"article-{number}", language="en", text="An article.")
        for number in range(articles)
    )
    systems = System.objects.bulk_create(
        System(project=project, name=f"system-{number}", is_reference=not number)
        for number in range(SYSTEMS + 1)
    )
    Summary.objects.bulk_create(
        Summary(
            project=project,
            article=article,
            system=system,
            text=" ".join(chance.choices(words, k=60)),
        )
        for article in texts
        for system in systems
    )
    return project


def measured(project: object, evaluator: str, settings: dict[str, str]) -> tuple[int, float, float]:
    """Return the scores of a run, the CPU seconds of the run, and those of its evaluator."""
    from scoring.contract.evaluator import score_unseen
    from scoring.inputs.items import items_of
    from scoring.models import Run, Score
    from scoring.runs import worker
    from scoring.runs.planning import plan_run

    run = plan_run(project, evaluator, settings)
    start = time.process_time()
    worker.work_on_run(run.pk, slice_s=3600)
    seconds = time.process_time() - start
    run.refresh_from_db()
    scores = Score.objects.filter(run=run).count()
    assert run.status == Run.Status.DONE
    fitted = worker.evaluator_of(run.setup)
    ids = [pk for batch in run.batches.all() for pk in batch.summary_ids]
    items = list(items_of(ids, fitted.needs_for(fitted.params)).values())
    start = time.process_time()
    score_unseen(fitted, items)
    alone = time.process_time() - start
    run.setup.delete()
    return scores, seconds, alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", default="")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--articles", type=int, default=ARTICLES)
    given = parser.parse_args()
    with empty_database(given.database) as address:
        os.environ |= {
            "DATABASE_URL": address,
            "DJANGO_SETTINGS_MODULE": "touchstone.settings",
            "SECRET_KEY": "benchmark",
        }
        django.setup()
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", verbosity=0)
        project = made_up_project(given.articles)
        for evaluator, settings in EVALUATORS.items():
            rounds = [measured(project, evaluator, settings) for _ in range(given.rounds)]
            scores = rounds[0][0]
            seconds, alone = (median(column) for column in list(zip(*rounds, strict=True))[1:])
            print(
                f"{address.partition(':')[0]}, {evaluator}: {scores:,} scores in {seconds:.2f} CPU seconds, "
                f"{scores / seconds:,.0f} a CPU second (budget {BUDGET:,}); "
                f"the evaluator takes {alone / seconds:.0%}"
            )
        connections.close_all()


if __name__ == "__main__":
    main()
