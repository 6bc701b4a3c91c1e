"""The operator decides which weights on the server a run may use."""

import pytest

from scoring.errors import InvalidRun
from scoring.models import Run
from scoring.runs.planning import plan, plan_run
from tests.factories import make_article, make_member, make_project, make_summary
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    make_summary(project, article=make_article(project, text="The cat sat on the mat."))
    return project


@pytest.fixture
def weights_dir(monkeypatch, tmp_path):
    (tmp_path / "small").symlink_to(tiny_model("bert"), target_is_directory=True)
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "model", ["/etc", "../small", "small/../../other", "~/models", "templates", "static/css"]
)
def test_pages_refuse_other_paths(project, weights_dir, model):
    researcher = make_member(project, "researcher")
    for look in (plan, lambda *given: plan_run(*given, researcher)):
        with pytest.raises(InvalidRun, match=r"parameter 'model'.*WEIGHTS_DIR"):
            look(project, "similarity", {"model": model, "against": "article"})
    assert not Run.objects.exists()


def test_pages_refuse_existing_paths(project, weights_dir):
    with pytest.raises(InvalidRun, match="WEIGHTS_DIR"):
        plan(project, "similarity", {"model": str(tiny_model("bert")), "against": "article"})


@pytest.mark.parametrize("model", ["trained", "owner/unknown", "unknown"])
def test_refusals_on_pages_show_no_path_of_the_server(project, weights_dir, model):
    (weights_dir / "trained").mkdir()
    with pytest.raises(InvalidRun, match="parameter 'model'") as refused:
        plan(project, "similarity", {"model": model, "against": "article"})
    assert str(weights_dir) not in str(refused.value)


def test_models_of_the_operator_are_accepted(project, weights_dir):
    researcher = make_member(project, "researcher")
    planned = plan(project, "similarity", {"model": "small", "against": "article"})
    assert planned.weights["small"] > 10_000
    assert plan_run(project, "similarity", {"model": "small", "against": "article"}, researcher).total == 1


def test_missing_model_is_refused_with_advice(project, weights_dir):
    with pytest.raises(InvalidRun, match=r"manage\.py weights fetch owner/name"):
        plan(project, "similarity", {"model": "owner/name", "against": "article"})


def test_command_line_accepts_any_path(project):
    given = {"model": str(tiny_model("bert")), "against": "article"}
    assert plan_run(project, "similarity", given).total == 1
