"""ICE with a local model."""

import math
import shutil
from dataclasses import replace

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.fingerprints import fingerprint, identity
from scoring.errors import InvalidRun
from scoring.evaluators import load_evaluator
from scoring.models import Run, Score
from scoring.runs.planning import plan, plan_run
from scoring.runs.probing import seconds_expected, start_probe, work_on_probe
from scoring.runs.worker import work_on_run
from tests.factories import make_article, make_member, make_project, make_summary
from tests.scoring.ice_setup import ITEM, POOL, ice, params
from tests.scoring.tiny_models import tiny_model

APIS = ("local_chat", "local_completions")


DECIDED = [replace(each, labels=each.labels | {"fluency": 0.8}) for each in POOL]


def local(api="local_completions", kind="llama", **settings):
    return ice(pool=DECIDED, api=api, model=str(tiny_model(kind)), **settings)


def test_candidates_give_every_dimension_a_score(subtests):
    cases = [("candidates", "decimals"), ("candidates", "yes_no"), ("candidates", "1-5")]
    for mode, marks in cases:
        for api in APIS:
            with subtests.test(api=api, mode=mode, marks=marks):
                [scored] = local(api, mode=mode, marks=marks).score([ITEM])
                assert set(scored.values) == {"consistency", "fluency", "relevance"}
                assert all(0 <= value <= 1 for value in scored.values.values())


def test_reply_without_a_number_is_stored_with_a_reason(subtests):
    for mode in ["greedy", "samples"]:
        for api in APIS:
            with subtests.test(api=api, mode=mode):
                [scored] = local(api, mode=mode).score([ITEM])
                assert all(math.isnan(value) for value in scored.values.values())
                assert (
                    set(scored.reasons) == set(scored.explanations) == {"consistency", "fluency", "relevance"}
                )


def test_mode_expected_reads_first_token_probabilities():
    [scored] = local("local_chat", mode="expected", marks="yes_no").score([ITEM])
    assert "share_on_marks" in scored.explanations["fluency"]


def test_candidates_need_a_local_model():
    with pytest.raises(ValueError, match=r"'mode': found 'candidates', expected .* local_chat"):
        params(mode="candidates")


def test_structured_replies_are_refused_for_local_models():
    with pytest.raises(ValueError, match="'structured'"):
        params(structured=True, prompt="described", api="local_chat")


def test_model_without_a_chat_template_is_refused_with_an_alternative():
    with pytest.raises(EvaluatorError, match=r"no chat template.*local_completions"):
        fingerprint(local("local_chat", "t5"))


def test_chat_template_is_part_of_the_fingerprint(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model("llama"), folder)
    before = fingerprint(ice(api="local_chat", model=str(folder)))
    (folder / "chat_template.jinja").write_text("{% for each in messages %}{{ each.content }}{% endfor %}")
    assert fingerprint(ice(api="local_chat", model=str(folder))) != before


def test_missing_model_is_reported_before_scoring():
    evaluator = ice(api="local_chat", model="owner-not/here")
    with pytest.raises(EvaluatorError, match="weights fetch owner-not/here"):
        fingerprint(evaluator)


def test_weights_and_libraries_are_part_of_the_fingerprint(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model("llama"), folder)
    before = ice(api="local_chat", model=str(folder))
    assert identity(before)["provenance"]["libraries"].keys() == {"torch", "transformers", "tokenizers"}
    first = fingerprint(before)
    shutil.copy(tiny_model("llama", rope_theta=5000.0) / "config.json", folder)
    assert fingerprint(ice(api="local_chat", model=str(folder))) != first
    assert "libraries" not in identity(ice())["provenance"]


@pytest.fixture
def project(db):
    project = make_project()
    for number in range(3):
        make_summary(project, article=make_article(project), text=f"The cat number {number} sat.")
    return project


@pytest.fixture
def given(monkeypatch):
    folder = tiny_model("llama")
    monkeypatch.setenv("WEIGHTS_DIR", str(folder.parent))
    return {
        "model": folder.name,
        "api": "local_completions",
        "mode": "candidates",
        "prompt": "described",
        "dimensions": "fluency",
        "examples": 0,
        "base_url": "https://not-listed.example/v1",
    }


def test_run_needs_no_endpoint(project, given, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        run = plan_run(project, "ice", given, make_member(project, "researcher"))
    assert [message["args"] for message in sent("cpu")] == [[run.pk]]
    work_on_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.prompt_tokens) == (Run.Status.DONE, 0)
    assert Score.objects.computed().filter(setup=run.setup, dimension="fluency").count() == 3


def test_probe_estimates_the_time_of_a_run(project, given):
    probe = start_probe(project, "ice", given, make_member(project, "researcher"))
    work_on_probe(probe.pk)
    probe.refresh_from_db()
    assert seconds_expected(probe) > 0
    assert plan(project, "ice", given).weights[given["model"]] > 10_000


@pytest.mark.parametrize("model", ["/etc", "../small", "templates"])
def test_pages_accept_only_models_in_the_operators_folder(project, given, model):
    with pytest.raises(InvalidRun, match=r"parameter 'model'.*WEIGHTS_DIR"):
        plan(project, "ice", given | {"model": model})


def test_local_model_runs_on_the_gpu_queue():
    evaluator = load_evaluator("ice")
    assert evaluator.queue_for(params(api="local_chat")) == "gpu"
    assert evaluator.queue_for(params()) == "llm"
    assert evaluator.models_for(params(api="local_chat", model="small")) == {"model": "small"}
    assert evaluator.models_for(params()) == {}
