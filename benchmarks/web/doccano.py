"""doccano in the web benchmarks: text classification on SQLite, served as `doccano webserver` does.

A step is the least that its page sends: a category for each answer, the confirmation, and the next example.
Left out are its reloads of the categories after each answer, of the confirmed example and of the progress.
doccano does not share work out: every rater gets all examples in the same order, so none is given too often.
"""

import re
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.web.load import HOST, PASSWORD, Client, Connection, OutOfItems
from benchmarks.web.tools import ARTICLE, QUESTIONS, SUMMARY, Campaign, Tool, free_port, output_of

CAMPAIGN = """
from django.contrib.auth.models import User
from examples.models import Example
from label_types.models import CategoryType
from projects.models import Member, TextClassificationProject
from roles.models import Role
project = TextClassificationProject.objects.create(name="Benchmark", project_type="DocumentClassification")
for question in {questions!r}:
    for answer in ("yes", "no", "unsure"):
        CategoryType.objects.create(project=project, text=f"{{question}}: {{answer}}")
Example.objects.bulk_create([Example(project=project, text="{text}") for _ in range({items})])
for n in range({raters}):
    user = User.objects.create_user(f"rater{{n}}", password="{password}")
    Member.objects.create(project=project, user=user, role=Role.objects.get(name="annotator"))
print(project.pk, *CategoryType.objects.filter(text__endswith=": yes").values_list("pk", flat=True))
"""
STORED = """
SELECT count(*) FROM examples_examplestate AS state WHERE {answers} = (
    SELECT count(*) FROM labels_category AS category
    WHERE category.example_id = state.example_id AND category.user_id = state.confirmed_by_id
)
"""


class DoccanoClient:
    """An annotator who pages through the examples."""

    def __init__(self, port: int, project: int, categories: list[int], n: int) -> None:
        self.connection = Connection(port)
        self.project = f"/v1/projects/{project}"
        self.categories = categories
        self.page = 0
        self.example = 0
        form = {"username": f"rater{n}", "password": PASSWORD}
        self.connection.request("POST", "/v1/auth/login/", data=form)

    def open(self) -> None:
        self._load()
        self.connection.take_times()

    def step(self) -> list[float]:
        headers = {"X-CSRFToken": self.connection.cookies["csrftoken"]}
        example = f"{self.project}/examples/{self.example}"
        for category in self.categories:
            self.connection.request(
                "POST", f"{example}/categories", data={"label": category}, headers=headers, expect=(201,)
            )
        self.connection.request("POST", f"{example}/states", data={}, headers=headers, expect=(201,))
        self.page += 1
        self._load()
        return self.connection.take_times()

    def _load(self) -> None:
        address = f"{self.project}/examples?limit=1&offset={self.page}&q=&confirmed=&ordering="
        found = re.search(r'"results":\[\{"id":(\d+)', self.connection.request("GET", address))
        if found is None:
            raise OutOfItems
        self.example = int(found[1])


class Doccano(Tool):
    """`doccano webserver` with its default number of workers. Its task queue, for imports, is not started."""

    name = "doccano"
    packages = ("doccano==1.8.4", "marshmallow<4", "numpy<2", "setuptools<70")

    def __init__(self, environments: Path) -> None:
        super().__init__(environments)
        self.folder = Path()
        self.project = 0
        self.categories: list[int] = []

    def start(self, folder: Path, campaign: Campaign) -> None:
        self.folder, self.port = folder, free_port()
        program = self.environment / "bin" / "doccano"
        settings = {"DOCCANO_HOME": str(folder), "STANDALONE": "True"}
        output_of([program, "init"], folder, settings)
        campaign_code = CAMPAIGN.format(
            questions=QUESTIONS,
            text=SUMMARY + ARTICLE,
            items=campaign.items,
            raters=campaign.raters,
            password=PASSWORD,
        )
        source = next(self.environment.glob("lib/python*/site-packages/backend"))
        database = {
            "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
            "DJANGO_SETTINGS_MODULE": "config.settings.production",
        }
        output = output_of(
            [self.python, "manage.py", "shell", "-c", campaign_code], source, settings | database
        )
        self.project, *self.categories = (int(key) for key in output.splitlines()[-1].split())
        command: list[str | Path] = [program, "webserver", "--port", str(self.port)]
        # Its health check would need the task queue.
        self.run(command, folder, settings, f"http://{HOST}:{self.port}/")

    def sign_in(self) -> Callable[[int], Client]:
        return partial(DoccanoClient, self.port, self.project, self.categories)

    def stored(self) -> int:
        with sqlite3.connect(self.folder / "db.sqlite3") as database:
            return int(database.execute(STORED.format(answers=len(QUESTIONS))).fetchone()[0])

    def given_too_often(self) -> None:
        return None
