"""A project scored by ICE on a scripted endpoint, for rechecks."""

import json
import re

from annotation.models import Project
from scoring.models import Run, Setup
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_project, make_summary
from tests.scoring.runs.test_planning import rate
from tests.scoring.scripted_endpoint import Answer, Asked, ScriptedEndpoint

SUMMARIES = 24


def scored_project(endpoint: ScriptedEndpoint, name: str = "model-1") -> tuple[Project, Setup]:
    """Create a project with two rated examples and 24 summaries that ICE scored from .00 to .92."""
    project = make_project()
    for value in ("yes", "no"):
        rate(make_summary(project), attribution=value)
    for number in range(SUMMARIES):
        make_summary(project, text=f"Summary number {number}.")
    endpoint.answer = answering(lambda number: f"{number * 4 / 100:.2f}", name)
    given = {
        "model": "judge",
        "base_url": endpoint.base_url,
        "dimensions": "attribution",
        "examples": "2",
    }
    run = plan_run(project, "ice", given)
    work_on_run(run.pk, slice_s=60)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE, run.failure
    endpoint.asked.clear()
    return project, run.setup


def answering(says, name: str = "model-1"):
    """Return answers with `says(number)` for "Summary number 7.", under this model name."""

    def answer(asked: Asked) -> Answer:
        found = re.findall(r"number (\d+)\.", asked.prompt.rsplit("Summary:", 1)[1])
        text = says(int(found[0])) if found else "0.5"
        if isinstance(text, Answer):
            return text
        message = {"role": "assistant", "content": text}
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": name,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
        }
        return Answer(raw=json.dumps(body).encode())

    return answer
