"""ICE without examples in a project: it uses the question's words and scores every summary."""

import pytest

from scoring.models import Run, Score
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_project, make_summary
from tests.scoring.runs.test_ice_form import TONE
from tests.scoring.runs.test_planning import rate
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with ScriptedEndpoint(lambda _: Answer("4")) as server:
        yield server


def test_judge_without_examples_needs_no_label_and_scores_all_articles(endpoint):
    project = make_project(TONE)
    for number in range(3):
        make_summary(project, text=f"Summary {number}.")
    rate(make_summary(project), tone="5")
    settings = {"model": "tiny", "base_url": endpoint.base_url, "prompt": "described", "marks": "1-5"}
    run = plan_run(project, "ice", {**settings, "examples": "0", "dimensions": "tone"})
    work_on_run(run.pk, slice_s=60)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE, run.failure
    assert list(Score.objects.filter(setup=run.setup).values_list("value", flat=True)) == [0.75] * 4
    assert not run.setup.seen_articles.exists()
    assert run.setup.pool == {}
    for asked in endpoint.asked:
        assert asked.prompt.startswith("Summaries are rated for one quality, tone: Tone?\n")
        assert asked.prompt.count("\nSummary: ") == 1
        assert "\nText: " in asked.prompt
