"""All checks, and what they find in the stored data."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.db import connection

from annotation.database.consistent_read import consistent_read
from annotation.models import Project
from scoring.integrity.check import Check
from scoring.integrity.database_checks import DATABASE_CHECKS
from scoring.integrity.rating_checks import RATING_CHECKS
from scoring.integrity.score_checks import SCORE_CHECKS

CHECKS: tuple[Check, ...] = (*DATABASE_CHECKS, *RATING_CHECKS, *SCORE_CHECKS)
SHOWN = 10


@dataclass(frozen=True)
class CheckResult:
    """The outcome of a check: how many rows break its rule, and the names of the first ten."""

    check: Check
    broken: int
    examples: tuple[str, ...]
    seconds: float


def check_results(project: Project | None = None) -> Iterator[CheckResult]:
    """Yield what each check finds in one project, or in the whole database for None.

    Each reads as of one moment and blocks no writer. Checks of the whole database are left out for a project,
    and those of SQLite on PostgreSQL.
    """
    for check in CHECKS:
        if project is not None and not check.of_project:
            continue
        if check.only_sqlite and connection.vendor != "sqlite":
            continue
        began = time.monotonic()
        with consistent_read():
            broken = check.broken(project)
            examples = tuple(islice(broken, SHOWN))
            number = len(examples) + sum(1 for _ in broken)
        yield CheckResult(check, number, examples, time.monotonic() - began)
