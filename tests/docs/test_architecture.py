"""docs/architecture.md names all rooms, and only files and functions that exist."""

import ast
import re
import subprocess
import sys

from tests.conftest import ROOT
from tests.rooms import ROOMS

PAGE = ROOT / "docs" / "architecture.md"
NAMED = re.compile(r"`((?:annotation|scoring|metaeval|touchstone|tests|script)/[\w./]*)(?::([\w.]+))?`")
MISSED_GUESSES = (
    "removed rater",
    "other pages conceal",
    "summary comes next",
    "ratings a summary still wants",
    "rows contradict each other",
    "`manage.py import` lives",
    "text of a prompt",
    "paid reply is not asked again",
    "contamination guard",
    "204",
    "judge is tried",
)
"""Rules that newcomers did not find by file names alone."""


def definitions(body: list[ast.stmt], inside: str = "") -> set[str]:
    """Return names of functions and classes, and of methods as Class.method."""
    found = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(inside + node.name)
        if isinstance(node, ast.ClassDef):
            found |= definitions(node.body, f"{node.name}.")
    return found


def test_every_path_and_function_on_the_page_exists():
    named = NAMED.findall(PAGE.read_text())
    assert len(named) > 100
    wrong = [path for path, _ in named if not (ROOT / path).exists()]
    wrong += [
        f"{path}:{name}"
        for path, name in named
        if name and path not in wrong and name not in definitions(ast.parse((ROOT / path).read_text()).body)
    ]
    assert wrong == []


def test_every_room_is_on_the_page_in_order():
    rows = [
        f"| `{app}/{room}{'/' if (ROOT / app / room).is_dir() else '.py'}` | {holds} |"
        for app, rooms in reversed(ROOMS.items())
        for room, holds in rooms.items()
    ]
    assert [line for line in PAGE.read_text().splitlines() if line in rows] == rows


def test_rules_that_newcomers_missed_have_a_row(subtests):
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    for words in MISSED_GUESSES:
        with subtests.test(rule=words):
            assert [row for row in rows if words in row]


def test_the_drawing_shows_the_rooms():
    checked = subprocess.run(
        [sys.executable, "script/draw_architecture", "--check"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
