"""Label Studio in the web benchmarks: six choices on SQLite, served as `label-studio start` does.

A step is the least that its labelling stream sends: the annotation and the request for the next task. Left
out are drafts, which its page saves while a rater selects answers, and what it reads of the task's history.
"""

import json
import re
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.web.load import HOST, PASSWORD, Client, Connection, OutOfItems, RefusedRequest
from benchmarks.web.tools import ARTICLE, QUESTIONS, SUMMARY, Campaign, Tool, free_port

RATINGS_WANTED = 1
CHOICES = '<Choices name="{}" toName="text"><Choice value="yes"/><Choice value="no"/></Choices>'
OFFLINE = {"COLLECT_ANALYTICS": "0", "LATEST_VERSION_CHECK": "0"}
STORED = "SELECT count(*) FROM task_completion WHERE result_count = ? AND NOT was_cancelled"
TOO_OFTEN = "SELECT count(*) FROM (SELECT 1 FROM task_completion GROUP BY task_id HAVING count(*) > ?)"


def signed_up(port: int, name: str) -> Connection:
    """Return a connection of a new account, in the organisation of the first account."""
    connection = Connection(port)
    page = connection.request("GET", "/user/signup/")
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    if found is None:
        raise ValueError(f"no form: {page[:300]}")
    form = {"email": f"{name}@example.org", "password": PASSWORD, "csrfmiddlewaretoken": found[1]}
    connection.request("POST", "/user/signup/", form=form, expect=(302,))
    return connection


class LabelStudioClient:
    """An annotator in the labelling stream of a project."""

    def __init__(self, port: int, project: int, n: int) -> None:
        self.connection = signed_up(port, f"rater{n}")
        self.project = project
        self.task = 0

    def open(self) -> None:
        self._load()
        self.connection.take_times()

    def step(self) -> list[float]:
        result = [
            {
                "id": f"answer{n}",
                "from_name": question,
                "to_name": "text",
                "type": "choices",
                "value": {"choices": ["yes"]},
                "origin": "manual",
            }
            for n, question in enumerate(QUESTIONS)
        ]
        annotation = {"lead_time": 1.0, "result": result, "draft_id": 0, "project": self.project}
        address = f"/api/tasks/{self.task}/annotations?project={self.project}"
        self.connection.request("POST", address, data=annotation, expect=(201,))
        self._load()
        return self.connection.take_times()

    def _load(self) -> None:
        address = f"/api/dm/actions?id=next_task&project={self.project}"
        try:
            found: dict[str, Any] = json.loads(self.connection.request("POST", address, data={}))
        except RefusedRequest as error:
            if "There are no tasks" in str(error):
                raise OutOfItems from error
            raise
        self.task = found["id"]


class LabelStudio(Tool):
    """`label-studio start` on a fresh folder."""

    name = "label-studio"
    packages = ("label-studio==1.23.2",)

    def __init__(self, environments: Path) -> None:
        super().__init__(environments)
        self.folder = Path()
        self.project = 0

    def start(self, folder: Path, campaign: Campaign) -> None:
        self.folder, self.port = folder, free_port()
        command: list[str | Path] = [self.environment / "bin" / "label-studio", "start", "--no-browser"]
        self.run(
            [*command, "--port", str(self.port), "--data-dir", folder],
            folder,
            OFFLINE,
            f"http://{HOST}:{self.port}/health",
        )
        manager = signed_up(self.port, "manager")
        choices = "".join(CHOICES.format(question) for question in QUESTIONS)
        project = {
            "title": "Benchmark",
            "label_config": f'<View><Text name="text" value="$text"/>{choices}</View>',
            "maximum_annotations": RATINGS_WANTED,
        }
        self.project = json.loads(manager.request("POST", "/api/projects/", data=project, expect=(201,)))[
            "id"
        ]
        tasks = [{"text": SUMMARY + ARTICLE}] * campaign.items
        manager.request("POST", f"/api/projects/{self.project}/import", data=tasks, expect=(201,))

    def sign_in(self) -> Callable[[int], Client]:
        return partial(LabelStudioClient, self.port, self.project)

    def stored(self) -> int:
        return self._count(STORED, len(QUESTIONS))

    def given_too_often(self) -> int:
        return self._count(TOO_OFTEN, RATINGS_WANTED)

    def _count(self, query: str, value: int) -> int:
        with sqlite3.connect(self.folder / "label_studio.sqlite3") as database:
            return int(database.execute(query, (value,)).fetchone()[0])
