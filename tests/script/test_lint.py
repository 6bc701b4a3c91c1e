"""Our own checks in script/lint, run on made-up files and commits."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


def run(*command, cwd=ROOT):
    return subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)


def spelling(path):
    return run(sys.executable, ROOT / "script" / "spelling.py", path)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("page.md", "The summary.\nIts color is gray.\n", [2, 2]),
        ("page.html", "<p\n class='center'>\nWe organize it.</p>", [3]),
        ("rule.py", '"""Analyze it."""\n\n# The labeled rows.\nX = "Your favorite one"\n', [1, 3, 4]),
    ],
)
def test_american_spellings_are_reported_with_their_lines(tmp_path, name, text, lines):
    path = tmp_path / name
    path.write_text(text)
    checked = spelling(path)
    assert checked.returncode == 1
    assert sorted(int(line.split(":")[1]) for line in checked.stderr.splitlines()) == lines


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "The colour is grey. `color`\n```\ncenter\n```\n[a label](/center.md)\n"),
        ("page.html", '{% center %}<p class="center" style="color: gray">The centre {{ color }}</p>'),
        ("rule.py", 'color = "center"\n\n# `normalize` and scipy.optimize are names of others.\n'),
    ],
)
def test_british_spellings_and_code_names_are_accepted(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    checked = spelling(path)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.fixture
def repository(tmp_path):
    """Create a repository with one commit on main, and the upstream that has it."""

    def git(*arguments):
        run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments, cwd=tmp_path / "ours")

    run("git", "init", "--quiet", "--bare", "--initial-branch=main", "theirs", cwd=tmp_path)
    run("git", "clone", "--quiet", "theirs", "ours", cwd=tmp_path)
    git("checkout", "-b", "main")
    git("commit", "--allow-empty", "-m", "A subject of the past that nobody can shorten any more " + "x" * 40)
    git("push", "--set-upstream", "origin", "main")
    return tmp_path / "ours", git


def test_only_new_subjects_are_checked(repository):
    folder, git = repository
    command = sys.executable, ROOT / "script" / "commit_subjects.py"
    assert run(*command, cwd=folder).returncode == 0
    git("commit", "--allow-empty", "-m", "é" * 72)
    assert run(*command, cwd=folder).returncode == 0
    git("commit", "--allow-empty", "-m", "y" * 73)
    refused = run(*command, cwd=folder)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    git("branch", "--unset-upstream", "main")
    assert run(*command, cwd=folder).returncode == 0
