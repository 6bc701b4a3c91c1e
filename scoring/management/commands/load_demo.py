"""manage.py load_demo: load the demo project with its logins and first runs."""

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
    help = "Load the demo project, print its logins once, and queue its first runs. Safe to run twice."

    def handle(self, *args: Any, **options: Any) -> str:
        if not settings.LOCAL:
            raise CommandError(
                "load_demo makes accounts that belong to nobody, so it needs TOUCHSTONE_MODE=local."
            )
        logins = load_demo_project()
        if not logins:
            return (
                "The demo project already exists. Its passwords were shown when it was loaded.\n"
                "To set a new one: .venv/bin/python manage.py changepassword demo-manager"
            )
        project = Project.objects.get(slug=SLUG)
        for evaluator, params in FIRST_RUNS:
            plan_run(project, evaluator, params)
        width = max(len(login.username) for login in logins)
        lines = ["Demo accounts. The passwords are shown only once:"]
        lines += [
            f"  {login.username:<{width}}  password {login.password}   {login.part}" for login in logins
        ]
        return "\n".join(lines)
