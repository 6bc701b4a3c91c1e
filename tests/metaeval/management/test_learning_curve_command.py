"""manage.py learning_curve: from a method to a table, stopped and resumed."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scoring.management.shown_training import ShownProgress
from scoring.models import LearningCurve, Training
from tests.metaeval.learning_curves.curve_projects import make_curve_project, use_curve_trainer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _sharing(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> None:
    use_curve_trainer(monkeypatch, settings, tmp_path)


def test_trains_scores_and_prints_the_figures_after_an_interruption(monkeypatch, capsys):
    project = make_curve_project(tested=4)
    report = ShownProgress.report

    def interrupted(self, point):
        report(self, point)
        self.is_interrupted = True

    command = ("learning_curve", "sharing", "--project", project.slug, "--shares", "50,100", "--seeds", "1")
    monkeypatch.setattr(ShownProgress, "report", interrupted)
    with pytest.raises(SystemExit) as stopped:
        call_command(*command, "--name", "Mine")
    assert stopped.value.code == 130
    curve = LearningCurve.objects.get()
    assert f"manage.py learning_curve --resume {curve.pk}" in capsys.readouterr().err
    monkeypatch.setattr(ShownProgress, "report", report)
    call_command("learning_curve", "--resume", str(curve.pk), "--format", "json")
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["50% (4)", "100% (8)", "One rater"]
    assert {row["n"] for row in rows[:2]} == {4}
    call_command("learning_curve", "--show", str(curve.pk))
    assert "Attribution: Compared with one rater: undefined (no summary has" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--project", "none"], "Name a method"),
        (["sharing", "--show", "1"], "Name a method"),
        (["--show", "77"], "There is no learning curve 77"),
        (["sharing", "--project", "PROJECT", "--shares", "10,x"], "Found 'x'"),
        (["sharing", "--project", "PROJECT", "--set", "seed=3"], "the learning curve sets it"),
    ],
)
def test_bad_arguments_start_nothing(arguments, words):
    project = make_curve_project()
    with pytest.raises(CommandError, match=f"(?i){words}") as refused:
        call_command("learning_curve", *(project.slug if each == "PROJECT" else each for each in arguments))
    assert refused.value.returncode == 2
    assert not Training.objects.exists()
