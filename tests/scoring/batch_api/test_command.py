"""manage.py score --batch."""

import io
import time
from dataclasses import asdict

import pytest
from django.core.management import CommandError, call_command

from scoring.management.commands import score as score_command
from scoring.models import EndpointModel, Run
from scoring.runs import worker
from tests.scoring.asking_projects import MODEL, asking_project, price
from tests.scoring.batch_api.batch_runs import KNOWN, work_once, work_until_done
from tests.scoring.management.test_commands import Worker
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

PATIENCE_S = 240

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    worker._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 2)), takes_batches=True) as server:
        yield server
    worker._loaded.clear()


def score(project, endpoint, output, **abilities):
    price(project, endpoint, "1", "1")
    EndpointModel.objects.update(abilities=asdict(KNOWN) | abilities)
    settings = {
        "model": MODEL,
        "base_url": endpoint.base_url,
        "dimensions": "attribution",
        "examples": 1,
        "pool_articles": 1,
    }
    given = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    call_command("score", "ice", "--project", project.slug, "--batch", *given, stdout=output, stderr=output)


def test_command_reports_the_submitted_batch_and_waits(endpoint, monkeypatch):
    monkeypatch.setattr(score_command, "LOOK_EVERY_S", 0.01)
    output = io.StringIO()

    def work(run):
        work_once(run)
        deadline = time.monotonic() + PATIENCE_S
        while "requests submitted" not in output.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        work_until_done(run)

    with Worker(work):
        score(asking_project(3), endpoint, output)
    assert "3 requests submitted, to be answered within 24 hours" in output.getvalue()
    assert "300 tokens sent" in output.getvalue()
    assert Run.objects.get().delivery == Run.Delivery.BATCH
    assert not endpoint.asked


def test_endpoint_without_batch_api_is_a_bad_argument(endpoint):
    with pytest.raises(CommandError, match="no batch API") as caught:
        score(asking_project(1), endpoint, io.StringIO(), batches=False)
    assert caught.value.returncode == score_command.BAD_ARGUMENTS


def test_batch_option_needs_a_project():
    with pytest.raises(CommandError, match="--batch needs --project"):
        call_command("score", "length", "--input", "here.jsonl", "--output", "there.jsonl", "--batch")
