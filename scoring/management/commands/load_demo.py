"""manage.py load_demo: load the demo project with its accounts and first runs."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotation.demo.load import SLUG, load_demo_project
from annotation.management.own_command import OwnCommand
from annotation.models import Project
from scoring.runs.planning import plan_run

FIRST_RUNS: tuple[tuple[str, dict[str, str]], ...] = (
    ("rouge", {"variant": "1", "tokens": "unicode"}),
    ("rouge", {"variant": "L", "tokens": "unicode"}),
    ("copy_rate", {}),
    ("length", {}),
)


class Command(OwnCommand):
    help = "Load the demo project with its accounts, and queue its first runs. Safe to run twice."

    def handle(self, *args: Any, **options: Any) -> str:
        if not settings.LOCAL:
            raise CommandError(
                "load_demo makes accounts that anybody at this machine may enter, so it needs "
                "TOUCHSTONE_MODE=local."
            )
        if load_demo_project():
            project = Project.objects.get(slug=SLUG)
            for evaluator, params in FIRST_RUNS:
                plan_run(project, evaluator, params)
        return "Enter the demo from the first page, as manager, researcher or annotator, without a password."
