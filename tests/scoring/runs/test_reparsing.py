"""Reparsing stored replies without sending requests, and replies that are not final."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Project, Summary
from scoring.models import Run, Score, Setup
from scoring.runs import worker
from scoring.runs.planning import plan, plan_run
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


def read_by_another_reader(run, **results):
    """Change the run as if an earlier reader had read these values or reasons."""
    setup = run.setup
    setup.provenance["provenance"]["reader"] = 0
    setup.fingerprint = "0" * 64
    setup.save()
    for number, result in results.items():
        known = (
            {"reason": result, "value": None} if isinstance(result, str) else {"value": result, "reason": ""}
        )
        Score.objects.filter(setup=setup, summary__text=f"Summary number {number[1:]}.").update(**known)
    return run


def reparse(run, *options):
    """Return output and exit code of the command."""
    output = io.StringIO()
    try:
        call_command("reparse", str(run.pk), *options, stdout=output)
    except CommandError as error:
        return f"{output.getvalue()}{error}", error.returncode
    return output.getvalue(), 0


class TestReparse:
    def test_scores_of_the_present_reader_are_stored_beside_the_old_ones(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint), _1="unparsable", _2=0.7, _0=0.2)
        before = list(Score.objects.filter(setup=run.setup).order_by("pk").values())
        text, code = reparse(run)
        assert "Values: 1 changed, 1 appeared, 1 vanished" in text
        assert "5 replies" in text
        assert code == 1
        assert "3 replies give no score" in text
        new = Setup.objects.exclude(pk=run.setup.pk).get()
        assert results(new) == [0.25, 0.5, "unparsable", "refused", "out of range"]
        assert list(Score.objects.filter(setup=run.setup).order_by("pk").values()) == before
        assert endpoint.asked == []

    def test_new_run_equals_one_that_had_sent_the_requests(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        reparse(run)
        new = Run.objects.exclude(pk=run.pk).get()
        assert new.status == Run.Status.DONE
        assert new.setup.fingerprint == plan(project, "ice", settings(endpoint)).fingerprint
        assert new.setup.seen_articles.count() == 2
        replies = new.scores.exclude(explanation="").order_by("summary__text")
        assert tuple(replies.values_list("explanation", flat=True)) == REPLIES
        assert set(new.scores.filter(explanation="").values_list("reason", flat=True)) == {
            "article is in the in-context pool"
        }

    def test_later_run_requests_only_replies_without_an_answer(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        reparse(run)
        later = run_ice(project, endpoint, ["0.1"] * 5)
        assert later.reused == 2
        assert results(later.setup) == [0.25, 0.5, "unparsable", 0.1, "out of range"]

    def test_summaries_with_changed_texts_are_requested_again(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        changed, same = Summary.objects.filter(text__startswith="Summary number").order_by("text")[:2]
        changed.text = "Summary number 0, another one."
        changed.save()
        reparse(run)
        to_score = plan(project, "ice", settings(endpoint)).to_score
        assert changed.pk in to_score
        assert same.pk not in to_score

    def test_exit_code_is_0_if_all_replies_are_read_and_output_can_be_json(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint, ["0.5"] * 5), _3="unparsable")
        text, code = reparse(run, "--json")
        assert code == 0
        told = json.loads(text)
        new = Run.objects.exclude(pk=run.pk).get()
        assert told == {
            "replies": 5,
            "changed": 0,
            "appeared": 1,
            "vanished": 0,
            "reasons": {},
            "run": new.pk,
        }

    def test_dry_run_stores_nothing(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint), _1="unparsable")
        revision = Project.objects.get().revision
        text, _ = reparse(run, "--dry-run")
        assert "1 appeared" in text
        assert "dry run" in text
        assert Run.objects.count() == Setup.objects.count() == 1
        assert Project.objects.get().revision == revision

    def test_new_scores_increase_the_projects_revision(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        revision = Project.objects.get().revision
        reparse(run)
        assert Project.objects.get().revision == revision + 1

    def test_scores_of_the_present_reader_are_left_unchanged(self, project, endpoint):
        run = run_ice(project, endpoint)
        text, _ = reparse(run)
        assert "0 changed, 0 appeared, 0 vanished" in text
        assert "already used the present reader" in text
        assert Run.objects.count() == 1

    def test_reparsing_twice_stores_the_scores_once(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        reparse(run)
        reparse(run)
        new = Setup.objects.exclude(pk=run.setup.pk).get()
        assert new.scores.count() == run.setup.scores.count()

    def test_problems_reported_by_the_endpoint_are_kept(self, project, endpoint):
        replies = [
            Answer("0.9", finish_reason="content_filter"),
            Answer("0.9", finish_reason="length"),
            Answer(None, refusal="Not this one."),
            Answer(None),
            Answer("0.9\nSince", finish_reason="length"),
        ]
        expected = ["filtered", "truncated", "refused", "empty reply", 0.9]
        run = run_ice(project, endpoint, replies)
        assert results(run.setup) == expected
        reparse(read_by_another_reader(run))
        assert results(Setup.objects.exclude(pk=run.setup.pk).get()) == expected

    def test_reply_wrongly_read_as_a_refusal_gets_its_score(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint), _0="refused")
        reparse(run)
        assert results(Setup.objects.exclude(pk=run.setup.pk).get())[0] == 0.25


def told(share, problem="stop"):
    return Answer("Yes", finish_reason=problem, probabilities={"Yes": share, "No": 0.1, "The": 0.9 - share})


class TestReparseInEveryMode:
    """The stored text gives the same scores and reasons as the replies did."""

    @pytest.mark.parametrize(
        ("more", "replies", "expected"),
        [
            (
                {"mode": "samples", "samples": "2"},
                [
                    "0.5",
                    "hm",
                    "4",
                    Answer("0.9", finish_reason="content_filter"),
                    Answer(None, refusal="No."),
                ],
                [0.5, "unparsable", "out of range", "filtered", "refused"],
            ),
            (
                {"mode": "expected", "marks": "yes_no"},
                [told(0.6), told(0.2), told(0.7, "length"), told(0.6, "content_filter"), told(0.8)],
                [0.6 / 0.7, "unparsable", 0.7 / 0.8, "filtered", 0.8 / 0.9],
            ),
            (
                {"prompt": "described", "structured": "yes"},
                ['{"score": 0.5}', "0.5", '{"score": 7}', "", "I'm sorry, but I can't help with that."],
                [0.5, "unparsable", "out of range", "empty reply", "refused"],
            ),
            (
                {"marks": "yes_no"},
                ["Yes", "No.", "Perhaps", Answer("No", finish_reason="length"), "no, it errs"],
                [1.0, 0.0, "unparsable", "truncated", 0.0],
            ),
        ],
    )
    def test_stored_replies_give_the_same_results(self, project, endpoint, more, replies, expected):
        run = run_ice(project, endpoint, replies, **more)
        approximate = [each if isinstance(each, str) else pytest.approx(each) for each in expected]
        assert results(run.setup) == approximate
        reparse(read_by_another_reader(run))
        assert results(Setup.objects.exclude(pk=run.setup.pk).get()) == approximate
        assert endpoint.asked == []

    def test_parameter_added_later_gets_its_default(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        for later in ("mode", "marks", "structured"):
            del run.setup.provenance["params"][later]
            del run.setup.params[later]
        run.setup.save()
        reparse(run)
        new = Setup.objects.exclude(pk=run.setup.pk).get()
        assert new.fingerprint == plan(project, "ice", settings(endpoint)).fingerprint
        assert results(new)[0] == 0.25


class TestReparseRefuses:
    def test_replies_to_other_prompts_are_refused(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        run.setup.provenance["provenance"]["prompts"]["ice_v1.txt"] = "Summary: {summary}"
        run.setup.provenance["params"]["examples"] = 3
        run.setup.save()
        text, code = reparse(run)
        assert code == 2
        assert "was asked with other settings (parameter examples, prompts)" in text
        assert Run.objects.count() == 1

    def test_unfinished_run_is_refused(self, project, endpoint):
        run = read_by_another_reader(run_ice(project, endpoint))
        Run.objects.update(status=Run.Status.RUNNING)
        text, code = reparse(run)
        assert code == 1
        assert f"Run {run.pk} of {run.setup.label} is in progress" in text
        assert Setup.objects.count() == 1

    def test_evaluator_without_a_language_model_is_refused(self, project):
        text, code = reparse(plan_run(project, "length", {}))
        assert code == 2
        assert "asks no language model" in text

    def test_unknown_run_is_refused(self):
        text, code = reparse(Run(pk=999))
        assert code == 2
        assert "there is no run 999" in text


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
