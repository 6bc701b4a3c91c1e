"""Runs after others: stored replies are read again, and asked for again where they are not final."""

import pytest

from scoring.evaluators import ice
from scoring.models import Run, Score
from scoring.runs import worker
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_project, make_summary
from tests.scoring.asking_projects import make_summaries
from tests.scoring.runs.test_planning import rate
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

REPLIES = ("0.25", "Score: 0.5", "0.7-0.8", "I'm sorry, but I can't help with that.", "[[90]]")


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    worker._loaded.clear()
    with ScriptedEndpoint() as server:
        yield server
    worker._loaded.clear()


@pytest.fixture
def project():
    """Create a project with two rated examples for ICE and five summaries to score."""
    project = make_project()
    for value in ("yes", "no"):
        rate(make_summary(project), attribution=value)
    make_summaries(project, len(REPLIES))
    return project


def settings(endpoint, **more):
    return {
        "model": "tiny",
        "base_url": endpoint.base_url,
        "dimensions": "attribution",
        "examples": "2",
        **more,
    }


def answers(replies):
    """Answer with the reply for each of the five summaries; support every feature that is checked."""

    def answer(asked):
        if "Summary:" not in asked.prompt:
            return Answer('{"score": 1}', probabilities={"1": 0.9, "2": 0.1})
        last = asked.prompt.rsplit("Summary:", 1)[1]
        found = replies[int(last.split("number ")[1][0])]
        return found if isinstance(found, Answer) else Answer(found)

    return answer


def run_ice(project, endpoint, replies=REPLIES, **more):
    endpoint.answer = answers(replies)
    run = plan_run(project, "ice", settings(endpoint, **more))
    work_on_run(run.pk, slice_s=60)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE, run.failure
    endpoint.asked.clear()
    return run


def results(setup):
    """Return the values or reasons of the five summaries, in order."""
    scores = Score.objects.filter(setup=setup, summary__text__startswith="Summary number")
    rows = scores.order_by("summary__text").values_list("value", "reason")
    return [reason or value for value, reason in rows]


def test_later_reader_reads_stored_replies_and_asks_only_for_what_was_refused(project, endpoint, monkeypatch):
    run = run_ice(project, endpoint)
    monkeypatch.setattr(ice, "READER_VERSION", ice.READER_VERSION + 1)
    worker._loaded.clear()
    again = plan_run(project, "ice", settings(endpoint))
    work_on_run(again.pk, slice_s=60)
    assert again.setup != run.setup
    assert results(again.setup) == results(run.setup) == [0.25, 0.5, "unparsable", "refused", "out of range"]
    [asked] = endpoint.asked
    assert "Summary number 3." in asked.prompt


@pytest.mark.parametrize(
    "first",
    [
        Answer(None, refusal="I cannot rate this."),
        pytest.param(Answer("I'm sorry, but I can't help with that."), marks=pytest.mark.thorough),
        pytest.param(Answer("0.9", finish_reason="content_filter"), marks=pytest.mark.thorough),
        pytest.param(Answer(status=400, error_code="content_filter"), marks=pytest.mark.thorough),
        Answer("0.9", finish_reason="length"),
    ],
)
def test_refusal_is_not_final_and_the_next_run_requests_it_again(project, endpoint, first):
    run = run_ice(project, endpoint, ["0.5", first, "0.5", "0.5", "0.5"])
    assert results(run.setup)[1] in ("refused", "filtered", "truncated")
    endpoint.answer = answers(["0.1"] * 5)
    again = plan_run(project, "ice", settings(endpoint))
    assert again.setup == run.setup
    work_on_run(again.pk, slice_s=60)
    assert results(run.setup) == [0.5, 0.1, 0.5, 0.5, 0.5]
    assert len(endpoint.asked) == 1
