"""manage.py load_demo: load the demo and sample projects with their accounts and first runs."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import transaction

from annotation.demo import load as demo
from annotation.demo.sample import load as sample
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.management.own_command import OwnCommand
from annotation.models import Project
from scoring.runs.imported_scores import ImportedScores
from scoring.runs.planning import plan_run

FIRST_RUNS: tuple[tuple[str, dict[str, str]], ...] = (
    ("rouge", {"variant": "1", "tokens": "unicode"}),
    ("rouge", {"variant": "L", "tokens": "unicode"}),
    ("copy_rate", {}),
    ("length", {}),
)


class Command(OwnCommand):
    help = (
        "Load the demo and the sample project with their accounts, and queue first runs. Safe to run twice."
    )

    def handle(self, *args: Any, **options: Any) -> str:
        if not settings.LOCAL:
            raise CommandError(
                "load_demo makes accounts that anybody at this machine may enter, so it needs "
                "TOUCHSTONE_MODE=local."
            )
        with transaction.atomic():
            if demo.load_demo_project():
                plan_first_runs(Project.objects.get(slug=demo.SLUG))
        with transaction.atomic():
            if sample.load_sample_project():
                project = Project.objects.get(slug=sample.SLUG)
                import_judge_scores(project)
                plan_first_runs(project)
        return "Enter the demo from the first page, as manager, researcher or annotator, without a password."


def plan_first_runs(project: Project) -> None:
    for evaluator, params in FIRST_RUNS:
        plan_run(project, evaluator, params)


def import_judge_scores(project: Project) -> None:
    with TemporaryDirectory() as folder:
        for path in sample.write_judge_scores(Path(folder)).values():
            importer = open_import("scores", path)
            report = import_file(project, importer, scores=partial(ImportedScores, project, path.name))
            if report.refused:
                raise RuntimeError(f"{path.name}: {report.refused} {report.problems}")
