"""A worker killed after the endpoint received its batch and before the database has its id."""

import signal
import threading

import pytest

from scoring.models import ApiBatch, Score
from scoring.runs.planning import plan_run
from tests.factories import make_project, make_summary
from tests.scoring.batch_api.batch_runs import work_until_done
from tests.scoring.processes import PATIENCE_S, start, surroundings
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db(transaction=True)

SUBMIT = "from scoring.batch_api.batch_api_worker import work_on_api_batch; work_on_api_batch({batch})"


def told() -> tuple[str, str, str]:
    return ApiBatch.objects.values_list("state", "input_file", "remote_id").get()


def test_submitted_batch_is_found_again_and_not_submitted_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    started, killed = threading.Event(), threading.Event()

    def starting():
        started.set()
        killed.wait(PATIENCE_S)  # the worker never receives the batch's id

    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 2)), takes_batches=True) as endpoint:
        endpoint.starting = starting
        project = make_project()
        for number in range(4):
            make_summary(project, text=f"Summary {number}.")
        settings = {
            "model": "scripted",
            "base_url": endpoint.base_url,
            "prompt": "described",
            "examples": 0,
            "dimensions": "attribution",
        }
        run = plan_run(project, "ice", settings, delivery="batch")
        worker = start(
            surroundings(tmp_path, BROKER_URL="memory://"), SUBMIT.format(batch=ApiBatch.objects.get().pk)
        )
        assert started.wait(PATIENCE_S)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        killed.set()
        assert told() == ("waiting", "file-0", "")

        ApiBatch.objects.update(leased_until=None)
        run = work_until_done(run)
        assert told() == ("done", "file-0", "batch_0")
        assert list(endpoint.batches.batches) == ["batch_0"]
    assert (run.status, run.prompt_tokens) == ("done", 400)
    assert list(Score.objects.values_list("value", flat=True)) == [0.5] * 4
