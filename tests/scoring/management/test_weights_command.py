"""manage.py weights as an operator calls it, with a local hub."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.models import RegisteredModel
from scoring.weights.trained_models import trained_model
from tests.factories import make_article, make_project
from tests.scoring.local_hub import COMMIT, LocalHub, Repository
from tests.scoring.management.test_commands import refused, run_command
from tests.scoring.tiny_models import tiny_model
from tests.scoring.training.counted_projects import make_counted_project, use_counting_trainer

ROOT = Path(__file__).resolve().parents[3]


def pickled(content: object) -> bytes:
    import torch

    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


@pytest.fixture(scope="module")
def hub():
    model = {path.name: path.read_bytes() for path in tiny_model("bert").iterdir()}
    configuration = {name: content for name, content in model.items() if name.endswith(".json")}
    from safetensors.torch import load

    state = {"state_dict": load(model["model.safetensors"]), "epoch": 3}
    repositories = {
        "someone/small": Repository({**model, "README.md": b"# A model", "training.bin": b"x" * 64}),
        "someone/other": Repository(model),
        "someone/old": Repository({**configuration, "pytorch_model.bin": pickled(state)}),
        "someone/gated": Repository(model, gated=True),
        "someone/empty": Repository({"config.json": b"{}"}),
        "someone/damaged": Repository(model, stated_hashes={"model.safetensors": "0" * 64}),
    }
    with LocalHub(repositories) as server:
        yield server


SESSION = """
import io, json, sys
from contextlib import redirect_stderr

import django
from django.core.management import CommandError, call_command

django.setup()
for line in sys.stdin:
    output, errors, code = io.StringIO(), io.StringIO(), 0
    try:
        with redirect_stderr(errors):
            call_command(*json.loads(line), stdout=output)
    except CommandError as error:
        output.write(str(error))
        code = error.returncode
    print(json.dumps([code, output.getvalue(), errors.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def command(hub, home):
    """Return a function that runs commands in a process with its own hub and folders.

    Its `errors` are what the last command wrote to the error output.
    """
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(home / "hf"),
        "WEIGHTS_DIR": str(home / "weights"),
        "NO_PROXY": "127.0.0.1",
    }
    session = subprocess.Popen(
        [sys.executable, "-c", SESSION],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def run(*arguments: str, code: int = 0) -> str:
        session.stdin.write(json.dumps(arguments) + "\n")
        session.stdin.flush()
        found, output, run.errors = json.loads(session.stdout.readline())
        assert found == code, output
        return output

    yield run
    session.stdin.close()
    session.wait()


@pytest.fixture
def examples(tmp_path):
    path = tmp_path / "examples.jsonl"
    path.write_text(json.dumps({"id": "a", "summary": "The cat.", "references": ["The cat."]}) + "\n")
    return "--input", str(path), "--output", str(tmp_path / "scores.jsonl")


def test_list_without_models_says_how_to_begin(command):
    assert "weights fetch" in command("weights", "list")


def test_model_is_fetched_listed_and_used_by_its_id(command, hub, examples):
    hub.asked.clear()
    said = command("weights", "fetch", "someone/small")
    resolved = {each.rpartition("/")[2] for each in hub.asked if "/resolve/" in each}
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= resolved
    assert not {"README.md", "training.bin"} & resolved

    [found] = json.loads(command("weights", "list", "--json"))
    assert found["model"] == "someone/small"
    assert found["bytes"] == (tiny_model("bert") / "model.safetensors").stat().st_size
    assert found["sha256"] in said
    assert COMMIT in found["folder"]
    assert f"someone/small\n    {found['bytes'] / 1000:.1f} kB, {found['sha256']}" in command(
        "weights", "list"
    )

    hub.asked.clear()
    command("score", "similarity", *examples, "--set", "model=someone/small")
    command("score", "similarity", *examples, "--set", f"model=someone/small@{COMMIT}")
    assert not hub.asked


def test_scoring_never_downloads(command, hub, examples):
    hub.asked.clear()
    said = command("score", "similarity", *examples, "--set", "model=someone/gated", code=1)
    assert "weights fetch someone/gated" in said
    assert not hub.asked


def test_pickled_model_is_fetched_on_request_and_usable_after_conversion(command, home, examples):
    said = command("weights", "fetch", "someone/old", code=1)
    assert "pickled files only (pytorch_model.bin)" in said
    assert "--pickled" in said
    assert "weights convert" in said
    command("weights", "fetch", "someone/old", "--pickled")
    score = ("score", "similarity", *examples, "--set", "model=someone/old")
    target = str(home / "weights" / "someone" / "old")
    assert f"weights convert someone/old --to {target}" in command(*score, code=1)
    assert "pickled only" in command("weights", "list")

    said = command("weights", "convert", "someone/old", "--to", target)
    assert "model.safetensors" in said
    assert "tokenizer.json" in said
    command(*score)
    again = command("weights", "convert", "someone/old", "--to", target, code=2)
    assert "is not overwritten" in again


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        ("someone/nowhere", 2, "The hub has no model someone/nowhere"),
        ("someone/small@v9", 2, "The hub has no revision 'v9' of someone/small"),
        ("small", 2, "expected owner/name or owner/name@revision"),
        ("someone/gated", 1, "accept its terms"),
        ("someone/empty", 1, "has no weights"),
        ("someone/damaged", 1, "model.safetensors arrived damaged"),
    ],
)
def test_failed_fetch_says_what_to_do(command, model, code, said):
    assert said in command("weights", "fetch", model, code=code)
    usable = [each["model"] for each in json.loads(command("weights", "list", "--json")) if each["sha256"]]
    assert model not in usable


def test_damaged_download_is_listed_as_incomplete(command):
    command("weights", "fetch", "someone/damaged", code=1)
    assert "someone/damaged\n    incomplete: fetch it again" in command("weights", "list")


def test_wrong_arguments_are_refused(command, tmp_path):
    target = ("--to", str(tmp_path / "new"))
    assert "no file or folder 'nothing'" in command("weights", "convert", "nothing", *target, code=2)
    assert "expected BEGINNING=FILE" in command(
        "weights", "convert", str(tmp_path), *target, "--part", "a=../b", code=2
    )


def test_progress_is_one_line_per_file_without_a_terminal(command):
    command("weights", "fetch", "someone/other")
    *files, last = command.errors.splitlines()
    assert {line.partition(":")[0] for line in files} >= {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    total = last.removesuffix(" bytes").rpartition(" of ")[2]
    assert last == f"all files: {total} of {total} bytes"
    assert all(line.endswith(f" of {total} bytes") for line in files)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "Check the connection to the hub"),
        pytest.param({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE forbids downloads", marks=pytest.mark.thorough),
    ],
)
def test_fetch_without_network_says_so(environment, said, tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "weights", "fetch", "someone/small"],
        cwd=ROOT,
        env={**os.environ, "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.django_db
def test_a_trained_model_goes_to_another_touchstone(monkeypatch, tmp_path, settings):
    use_counting_trainer(monkeypatch, settings, tmp_path)
    run_command("train", "counting", "--project", make_counted_project().slug, "--name", "mine")
    file = tmp_path / "elsewhere.tar"
    assert "trained/mine is in" in run_command("weights", "export", "mine", "--to", str(file))
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path / "another"))
    assert "installed as trained/elsewhere" in run_command("weights", "import", str(file))
    assert trained_model("elsewhere").card.method == "counting"
    named = ("weights", "import", str(file.rename(tmp_path / "abc123.tar")), "--name")
    assert "installed as trained/from-elsewhere." in run_command(*named, "from-elsewhere")
    assert "Name: found 'No Name'" in str(refused(*named, "No Name"))


@pytest.mark.django_db
def test_a_file_that_is_no_model_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path / "weights"))
    file = tmp_path / "model.tar"
    file.write_bytes(b"nothing")
    assert "no archive of a model" in str(refused("weights", "import", str(file)))
    assert "There is no trained model 'mine'" in str(refused("weights", "export", "mine", "--to", str(file)))


@pytest.mark.django_db
def test_a_model_is_registered_renamed_and_removed(monkeypatch, tmp_path, django_capture_on_commit_callbacks):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path / "weights"))
    project = make_project()
    article = make_article(project, external_id="a1")
    seen = tmp_path / "seen.txt"
    seen.write_text("a1\n")
    register = ["weights", "register", "mine", str(tiny_model("roberta")), "--evaluator", "bertscore"]
    assert "Parameter 'layer': found -1" in str(refused(*register))
    register += ["--set", "layer=2"]
    assert "line 1: found 'a1', expected a digest, or a project" in str(
        refused(*register, "--seen", str(seen))
    )
    done = run_command(*register, "--seen", str(seen), "--project", project.slug)
    assert done.startswith("The model is registered as trained/mine: BERTScore, from ")
    card = trained_model("mine").card
    assert (card.articles, card.params) == ({"train": (article.text_digest,)}, {"layer": 2})
    assert RegisteredModel.objects.get(project=project).name == "mine"
    assert "now trained/better" in run_command("weights", "rename", "mine", "better")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert "Nothing was deleted" in str(refused("weights", "remove", "better"))
    with django_capture_on_commit_callbacks(execute=True):
        run_command("weights", "remove", "better", "--no-input")
    assert trained_model("better") is None
    assert "There is no trained model 'better'" in str(refused("weights", "remove", "better", "--no-input"))
