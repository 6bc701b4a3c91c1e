"""manage.py score --batch."""

import io
import time

import pytest
from django.core.management import CommandError, call_command

from scoring import working
from scoring.management.commands import score as score_command
from scoring.models import EndpointModel, Run
from tests.scoring.asking_projects import MODEL, asking_project, price
from tests.scoring.delivery.handed_in import KNOWN, turn, turns
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.test_commands import Worker

PATIENCE_S = 30

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    working._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 2)), takes_batches=True) as server:
        yield server
    working._loaded.clear()


def score(project, endpoint, output, **abilities):
    price(project, endpoint, "1", "1")
    EndpointModel.objects.update(abilities=KNOWN.as_json() | abilities)
    settings = {
        "model": MODEL,
        "base_url": endpoint.base_url,
        "dimensions": "attribution",
        "examples": 1,
        "pool_articles": 1,
    }
    given = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    call_command("score", "ice", "--project", project.slug, "--batch", *given, stdout=output, stderr=output)


def test_it_hands_in_says_so_and_waits(endpoint, monkeypatch):
    monkeypatch.setattr(score_command, "LOOK_EVERY_S", 0.01)
    output = io.StringIO()

    def work(run):
        turn(run)
        deadline = time.monotonic() + PATIENCE_S
        while "handed in" not in output.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        turns(run)

    with Worker(work):
        score(asking_project(3), endpoint, output)
    assert "3 requests are handed in, to be answered within 24 hours" in output.getvalue()
    assert "300 tokens sent" in output.getvalue()
    assert Run.objects.get().delivery == Run.Delivery.BATCH
    assert not endpoint.asked


def test_an_endpoint_without_batches_is_a_bad_argument(endpoint):
    with pytest.raises(CommandError, match="takes no batches") as caught:
        score(asking_project(1), endpoint, io.StringIO(), batches=False)
    assert caught.value.returncode == score_command.BAD_ARGUMENTS


def test_a_file_is_not_handed_in():
    with pytest.raises(CommandError, match="--batch goes with --project only"):
        call_command("score", "length", "--input", "here.jsonl", "--output", "there.jsonl", "--batch")
