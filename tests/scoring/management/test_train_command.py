"""manage.py train: on a project, on a file, stopped and resumed."""

import json
import signal

import pytest
from django.core.management import call_command

from scoring.management.shown_training import ShownProgress
from scoring.models import Training
from scoring.weights.model_card import read_card
from scoring.weights.trained_models import trained_models
from tests.import_files import jsonl
from tests.scoring.management.test_commands import refused, run_command
from tests.scoring.tiny_models import tiny_model
from tests.scoring.training.counted_projects import make_counted_project, use_counting_trainer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _counting(monkeypatch, settings, tmp_path):
    use_counting_trainer(monkeypatch, settings, tmp_path)


@pytest.fixture
def project():
    return make_counted_project()


@pytest.fixture
def examples(tmp_path):
    rows = [
        {"id": f"s{n}", "article": f"Text {n}.", "summary": "S.", "labels": {"attribution": 1 + 4 * (n % 2)}}
        for n in range(4)
    ]
    return jsonl(tmp_path / "examples.jsonl", *rows)


@pytest.fixture
def interrupted_at(monkeypatch):
    """Return a function that presses Ctrl-C when a step is reported."""

    def at(step: int) -> None:
        report = ShownProgress.report

        def reporting(self, point):
            report(self, point)
            if point.step == step:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(ShownProgress, "report", reporting)

    return at


def test_trains_on_a_project_and_installs_the_model(project, capsys):
    printed = run_command(
        "train", "counting", "--project", project.slug, "--set", "steps=5", "--name", "mine"
    )
    assert "Training examples: 3" in printed
    assert "Best after step 5: validation loss 0.2 [0.1, 0.4]" in printed
    assert "The model is installed as trained/mine." in printed
    assert "Share for training: 60.0%" in printed
    assert "training: 5 of 5 steps" in capsys.readouterr().err
    assert Training.objects.get().status == Training.Status.DONE


def test_warns_of_doubtful_data(project, capsys):
    run_command("train", "counting", "--project", project.slug, "--set", "steps=1")
    assert "One step shows little." in capsys.readouterr().err


def test_ctrl_c_keeps_the_checkpoint_and_says_how_to_resume(project, interrupted_at, capsys):
    interrupted_at(3)
    with pytest.raises(SystemExit) as ended:
        call_command("train", "counting", "--project", project.slug)
    training = Training.objects.get()
    assert (ended.value.code, training.status, training.steps) == (130, Training.Status.CANCELLED, 3)
    command = f"train --resume {training.pk}"
    assert f"To resume: manage.py {command}" in capsys.readouterr().err
    run_command(*command.split())
    training.refresh_from_db()
    assert (training.status, training.points.count()) == (Training.Status.DONE, 10)
    assert len(list(trained_models())) == 1


def test_trains_on_a_file_and_says_how_to_score(examples, tmp_path):
    to = tmp_path / "out"
    arguments = ("train", "counting", "--input", str(examples), "--to", str(to), "--label-scale", "1", "5")
    printed = run_command(*arguments)
    assert f"manage.py score similarity --set model={to / 'model'} --set against=article" in printed
    card = read_card(to / "model")
    assert card.data == {"origin": "file examples.jsonl"}
    assert len(card.articles["train"]) == 4


def test_a_stopped_training_on_a_file_goes_on_by_the_same_command(examples, tmp_path, interrupted_at):
    to = tmp_path / "out"
    command = ("train", "counting", "--input", str(examples), "--to", str(to), "--label-scale", "1", "5")
    interrupted_at(4)
    with pytest.raises(SystemExit):
        call_command(*command)
    assert json.loads((to / "checkpoints" / "last.json").read_text())["step"] == 4
    call_command(*command)
    assert read_card(to / "model").trained_with == {"steps": 10}


@pytest.mark.parametrize("source", ["project", "file"])
def test_a_rate_that_rarely_trains_is_named_before_the_training(project, examples, capsys, source):
    wanted = {
        "project": ["--project", project.slug, "--name", "No Name"],
        "file": ["--input", str(examples), "--to", str(examples), "--label-scale", "1", "5"],
    }
    settings = [f"model={tiny_model('bert')}", "dimensions=attribution", "learning_rate=1"]
    refused("train", "seahorse", *wanted[source], *(part for each in settings for part in ("--set", each)))
    assert "Learning rate 1 is unusual." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["counting", "--project", "nowhere"], "there is no project 'nowhere'"),
        (["--project", "nowhere"], "Name a method|name a method"),
        (["counting", "--input", "a.jsonl"], "--input and --to go together"),
        (["--resume", "999"], "There is no training 999"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    error = refused("train", *arguments)
    assert error.returncode == 2
    assert any(each in str(error) for each in words.split("|"))


def test_labels_outside_of_their_scale_are_named(examples, tmp_path):
    error = refused("train", "counting", "--input", str(examples), "--to", str(tmp_path / "out"))
    assert "expected a number on the label scale, 0 to 1" in str(error)
