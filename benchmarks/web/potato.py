"""Potato in the web benchmarks: radio buttons for six questions, files as it writes them by default.

A step is the least that its page sends when a rater selects Next: the answers (`/updateinstance`), the
navigation, and the page that is then loaded. Left out are the page's tracking of clicks, its autosave half a
second after each answer, and what it loads by scripts.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.web.load import HOST, PASSWORD, Client, Connection, OutOfItems
from benchmarks.web.tools import ARTICLE, QUESTIONS, SUMMARY, Campaign, Tool, free_port

RATINGS_WANTED = 1


class PotatoClient:
    """A registered annotator on the annotation page."""

    def __init__(self, port: int, n: int) -> None:
        self.connection = Connection(port)
        form = {"email": f"rater{n}", "pass": PASSWORD}
        self.connection.request("POST", "/auth", form=form, expect=(200, 302))
        if "session" not in self.connection.cookies:
            self.connection.request("POST", "/register", form=form, expect=(200, 302))
        self.page = ""

    def open(self) -> None:
        self.page = self.connection.request("GET", "/annotate")
        self.connection.take_times()

    def step(self) -> list[float]:
        found = re.search(r'id="instance_id"[^>]* value="(\w+)"', self.page)
        if found is None:
            raise OutOfItems
        answers = {f"{question}:yes": "yes" for question in QUESTIONS}
        saved: dict[str, Any] = {"instance_id": found[1], "annotations": answers, "span_annotations": []}
        self.connection.request("POST", "/updateinstance", data=saved)
        move = {"action": "next_instance", "instance_id": found[1]}
        self.connection.request(
            "POST", "/annotate", data=move, headers={"X-Potato-Navigation": "1"}, expect=(200, 204, 302)
        )
        self.page = self.connection.request("GET", "/annotate", expect=(200, 302))
        return self.connection.take_times()


class Potato(Tool):
    """`potato start` on a folder with a configuration and a file of items."""

    name = "potato"
    packages = ("potato-annotation==2.12.1",)

    def __init__(self, environments: Path) -> None:
        super().__init__(environments)
        self.folder = Path()

    def start(self, folder: Path, campaign: Campaign) -> None:
        self.folder, self.port = folder, free_port()
        schemes = [
            {"annotation_type": "radio", "name": name, "description": name, "labels": ["yes", "no", "unsure"]}
            for name in QUESTIONS
        ]
        settings = {
            "annotation_task_name": "Benchmark",
            "task_dir": ".",
            "output_annotation_dir": "annotations",
            "data_files": ["items.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "num_annotators_per_item": RATINGS_WANTED,
            "annotation_schemes": schemes,
        }
        (folder / "config.yaml").write_text(json.dumps(settings))  # JSON is YAML
        with (folder / "items.jsonl").open("w") as file:
            for n in range(campaign.items):
                file.write(json.dumps({"id": f"i{n}", "text": SUMMARY + ARTICLE}) + "\n")
        command: list[str | Path] = [self.environment / "bin" / "potato", "start", "config.yaml"]
        self.run([*command, "-p", str(self.port)], folder, {}, f"http://{HOST}:{self.port}/health")

    def sign_in(self) -> Callable[[int], Client]:
        return partial(PotatoClient, self.port)

    def stored(self) -> int:
        return self._ratings().total()

    def given_too_often(self) -> int:
        return sum(ratings > RATINGS_WANTED for ratings in self._ratings().values())

    def _ratings(self) -> Counter[str]:
        """Return how many people answered all questions of an item, from the files of their states."""
        found: Counter[str] = Counter()
        for path in self.folder.glob("annotations/*/user_state.json"):
            answers = json.loads(path.read_text())["instance_id_to_label_to_value"]
            found.update(item for item, labels in answers.items() if len(labels) == len(QUESTIONS))
        return found
