"""The API's runs and scores. tests/test_access_matrix.py tests who may use each address."""

import math

import pytest
from django.utils import timezone

from annotation.models import Project
from scoring.contract.evaluator import GENERAL
from scoring.endpoints.endpoint_admin import add_endpoint
from scoring.endpoints.keys import set_key
from scoring.models import Run, Score
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_article, make_member, make_project, make_summary
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client, project):
    client.force_login(make_member(project, "researcher"))
    return client


def scored(project: Project, evaluator: str = "length", **params: object):
    """Return a finished run of a real evaluator over all summaries."""
    run = plan_run(project, evaluator, params)
    work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == "done"
    return run


def ask(client, project, address, **parameters):
    answer = client.get(f"/api/projects/{project.slug}/{address}", parameters)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_scores_have_the_evaluators_signature_and_fingerprint(researcher, project):
    summary = make_summary(project)
    run = scored(project)
    body = ask(researcher, project, "scores/")
    score = Score.objects.get()
    assert body["results"] == [
        {
            "summary": summary.pk,
            "article": summary.article.external_id,
            "system": summary.system.name,
            "language": "en",
            "setup": run.setup_id,
            "run": run.pk,
            "dimension": GENERAL,
            "value": score.value,
            "reason": "",
            "explanation": score.explanation,
        }
    ]
    assert body["setups"] == [
        {
            "setup": run.setup_id,
            "evaluator": "length",
            "label": run.setup.label,
            "signature": run.setup.signature,
            "fingerprint": run.setup.fingerprint,
        }
    ]
    assert len(run.setup.fingerprint) >= 16
    project.refresh_from_db()
    assert body["revision"] == project.revision > 0


def test_missing_score_is_null_with_its_reason(researcher, project):
    make_summary(project, text="")
    scored(project, "copy_rate")
    [row] = ask(researcher, project, "scores/")["results"]
    assert row["value"] is None
    assert row["reason"] == "empty summary"


def test_numbers_are_exact(researcher, project):
    make_summary(project)
    run = scored(project)
    Score.objects.update(value=0.1 + 0.2)
    [row] = ask(researcher, project, "scores/", run=run.pk)["results"]
    assert row["value"] == 0.1 + 0.2
    assert not math.isclose(row["value"], 0.3, rel_tol=0, abs_tol=0)


def test_scores_can_be_filtered_by_setup_run_and_dimension(researcher, project):
    make_summary(project)
    length, copied = scored(project), scored(project, "copy_rate")
    assert ask(researcher, project, "scores/")["count"] == 2
    for asked in ({"setup": length.setup_id}, {"run": length.pk}):
        body = ask(researcher, project, "scores/", **asked)
        assert [row["setup"] for row in body["results"]] == [length.setup_id]
        assert [setup["evaluator"] for setup in body["setups"]] == ["length"]
    assert ask(researcher, project, "scores/", dimension=GENERAL)["count"] == 2
    both = ask(researcher, project, "scores/", setup=length.setup_id, run=copied.pk)
    assert both["count"] == 0


def test_run_has_its_provenance_and_its_results(researcher, project):
    make_summary(project)
    make_summary(project, text="")
    run = scored(project, "copy_rate")
    body = ask(researcher, project, f"runs/{run.pk}/")
    assert (body["status"], body["total"], body["done"], body["unscored"]) == ("done", 2, 2, 1)
    assert body["reasons"] == {"empty summary": 1}
    assert body["setup"]["fingerprint"] == run.setup.fingerprint
    assert body["setup"]["provenance"] == run.setup.provenance
    assert body["setup"]["params"] == run.setup.params


def test_run_with_a_model_counts_cut_texts(researcher, project, monkeypatch):
    weights = tiny_model("bert")
    monkeypatch.setenv("WEIGHTS_DIR", str(weights.parent))
    make_summary(project, article=make_article(project, text="The cat sat on the mat. " * 200))
    make_summary(project, article=make_article(project, text="The cat sat on the mat."))
    run = scored(project, "similarity", model=weights.name, against="article", long_article="cut")
    assert ask(researcher, project, f"runs/{run.pk}/")["cut"] == 1


def test_unfinished_run_reports_its_progress(researcher, project, monkeypatch):
    monkeypatch.setattr("scoring.evaluators.length.Length.batch_size", 1)
    for _ in range(3):
        make_summary(project)
    run = plan_run(project, "length", {})
    run.batches.filter(number=0).update(finished_at=timezone.now())
    [row] = ask(researcher, project, "runs/")["results"]
    assert (row["status"], row["total"], row["done"]) == ("queued", 3, 1)


def test_runs_are_latest_first_and_can_be_filtered(researcher, project):
    make_summary(project)
    first, second = scored(project), scored(project, "copy_rate")
    assert [row["id"] for row in ask(researcher, project, "runs/")["results"]] == [second.pk, first.pk]
    assert ask(researcher, project, "runs/", setup=first.setup_id)["count"] == 1
    assert ask(researcher, project, "runs/", status="done")["count"] == 2
    assert ask(researcher, project, "runs/", status="failed")["count"] == 0


def test_runs_do_not_name_people(researcher, project):
    manager = make_member(project, "manager")
    make_summary(project)
    run = plan_run(project, "length", {}, user=manager)
    for address in ("runs/", f"runs/{run.pk}/"):
        assert (
            manager.username not in researcher.get(f"/api/projects/{project.slug}/{address}").content.decode()
        )


def test_texts_are_not_part_of_scores(researcher, project):
    make_summary(project, text="SUMMARY-TEXT", article=make_article(project, text="ARTICLE-TEXT"))
    run = scored(project)
    for address in ("scores/", f"runs/{run.pk}/"):
        answer = researcher.get(f"/api/projects/{project.slug}/{address}").content
        assert b"SUMMARY-TEXT" not in answer
        assert b"ARTICLE-TEXT" not in answer


def test_unknown_parameters_and_values_are_refused(researcher, project, subtests):
    make_summary(project)
    scored(project)
    cases = [
        ("scores/", {"dimension": "beauty"}, "dimension: found 'beauty', expected one of general"),
        ("scores/", {"setup": "0"}, "setup: found '0', expected one of "),
        ("scores/", {"run": "999999"}, "run: found '999999', expected one of "),
        ("scores/", {"run": str(10**40)}, "run: found "),
        ("scores/", {"run": "one"}, "integer"),
        ("runs/", {"setup": "999999"}, "setup: found '999999'"),
        ("runs/", {"status": "finished"}, "status: found 'finished', expected one of queued, running, done"),
        ("scores/", {"setup__project__slug": "x"}, "unknown parameter"),
        ("scores/", {"run__created_by__password__startswith": "p"}, "unknown parameter"),
        ("runs/", {"created_by__password__regex": "."}, "unknown parameter"),
    ]
    for address, asked, said in cases:
        with subtests.test(address=address, asked=asked, said=said):
            answer = researcher.get(f"/api/projects/{project.slug}/{address}", asked)
            assert answer.status_code == 400
            assert said in answer.json()["detail"]


def test_runs_setups_and_scores_of_other_projects_are_hidden(researcher, project):
    other = make_project()
    make_summary(other)
    foreign = scored(other)
    assert ask(researcher, project, "scores/")["results"] == []
    assert ask(researcher, project, "runs/")["results"] == []
    assert researcher.get(f"/api/projects/{project.slug}/runs/{foreign.pk}/").status_code == 404
    for asked in ({"run": foreign.pk}, {"setup": foreign.setup_id}):
        answer = researcher.get(f"/api/projects/{project.slug}/scores/", asked)
        assert answer.status_code == 400
        assert "(none yet)" in answer.json()["detail"]


def test_run_has_its_exact_tokens_and_cost(researcher, project):
    make_summary(project)
    run = scored(project)
    spent = {"budget": "2.5000", "spent": "0.00012345", "prompt_tokens": 1200, "completion_tokens": 34}
    Run.objects.filter(pk=run.pk).update(**spent)
    for body in (
        ask(researcher, project, f"runs/{run.pk}/"),
        ask(researcher, project, "runs/")["results"][0],
    ):
        assert {name: body[name] for name in spent} == spent
    Run.objects.filter(pk=run.pk).update(budget=None)
    assert ask(researcher, project, f"runs/{run.pk}/")["budget"] is None


def test_runs_can_be_filtered_by_the_status_paused(researcher, project):
    make_summary(project)
    run = scored(project)
    Run.objects.filter(pk=run.pk).update(status="paused", failure="The budget is spent.")
    [found] = ask(researcher, project, "runs/", status="paused")["results"]
    assert (found["id"], found["failure"]) == (run.pk, "The budget is spent.")


def test_no_answer_contains_keys_of_endpoints(researcher, project):
    manager = make_member(project, "manager")
    endpoint = add_endpoint(project, "https://llm.example/v1", manager)
    set_key(endpoint, "sk-never-shown", manager)
    make_summary(project)
    run = scored(project)
    for address in ("", "runs/", f"runs/{run.pk}/", "scores/", "labels/"):
        answer = researcher.get(f"/api/projects/{project.slug}/{address}").content.decode()
        assert "sk-never-shown" not in answer
        assert endpoint.encrypted_key not in answer


def send(client, project, address, body=None, **headers):
    address = f"/api/projects/{project.slug}/{address}"
    return client.post(address, body or {}, "application/json", headers=headers)


def test_a_run_is_started_with_parameters_and_its_setup_again(researcher, project):
    make_summary(project, text="The harbour froze over.")
    make_summary(project, language="de")
    asked = {"evaluator": "length", "params": {"unit": "characters"}, "languages": ["de"]}
    begun = send(researcher, project, "runs/", asked)
    assert (begun.status_code, begun.json()["status"], begun.json()["total"]) == (201, "queued", 1)
    assert begun.json()["setup"]["params"]["unit"] == "characters"
    work_on_run(begun.json()["id"])
    again = send(researcher, project, "runs/", {"setup": begun.json()["setup"]["setup"]}).json()
    assert (again["setup"]["fingerprint"], again["total"], again["reused"]) == (
        begun.json()["setup"]["fingerprint"],
        1,
        1,
    )


def test_a_repeated_request_starts_one_run(researcher, project):
    make_summary(project)
    first, second = (
        send(researcher, project, "runs/", {"evaluator": "length"}, Idempotency_Key="a") for _ in range(2)
    )
    assert (second.json(), second["Idempotent-Replayed"]) == (first.json(), "true")
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "evaluator: expected this or `setup`"),
        ({"evaluator": "length", "setup": 1}, "evaluator: expected this or `setup`"),
        ({"setup": 1}, "setup: found '1', expected one of (none yet)"),
        ({"setup": 1, "params": {}}, "params: given with `setup`"),
        ({"evaluator": "lenght"}, "length"),
        ({"evaluator": "length", "params": {"unti": "characters"}}, "unti"),
        ({"evaluator": "length", "params": {"unit": "miles"}}, "miles"),
        ({"evaluator": "length", "languages": ["tr"]}, "languages: found 'tr', expected one of en"),
        ({"evaluator": "length", "budget": "1.00"}, "budget: this evaluator uses no endpoint"),
        ({"evaluator": "length", "budget": "-1"}, "budget"),
        ({"evaluator": "length", "delivery": "batch"}, "delivery"),
        ({"evaluator": "length", "colour": "blue"}, "unknown field 'colour'"),
    ],
)
def test_a_run_that_cannot_be_is_refused(researcher, project, asked, said):
    make_summary(project)
    refused = send(researcher, project, "runs/", asked)
    assert (refused.status_code, said in refused.json()["detail"]) == (400, True), refused.json()
    assert not Run.objects.exists()


def test_a_run_is_cancelled_once(researcher, project):
    make_summary(project)
    run = send(researcher, project, "runs/", {"evaluator": "length"}).json()
    busy = send(researcher, project, "runs/", {"evaluator": "length"})
    assert (busy.status_code, "is in progress" in busy.json()["detail"]) == (409, True)
    cancelled = send(researcher, project, f"runs/{run['id']}/cancel/")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert send(researcher, project, f"runs/{run['id']}/cancel/").status_code == 409
