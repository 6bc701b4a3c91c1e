"""The paths and checks that CONTRIBUTING.md names."""

import ast
import inspect
import re

from metaeval import charts
from tests.conftest import ROOT

EVERY_CHART = "tests/metaeval/charts/test_every_chart.py"
A_PATH = re.compile(
    r"`((?:annotation|scoring|metaeval|touchstone|templates|static|tests|docs|script)/[\w./]+)"
)


def test_every_path_in_the_recipes_exists():
    named = [path for path in A_PATH.findall((ROOT / "CONTRIBUTING.md").read_text()) if "NAME" not in path]
    assert len(named) > 40
    assert [path for path in named if not (ROOT / path).exists()] == []


def called_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}


def test_no_chart_is_missing_from_its_test():
    drawn = {
        name
        for name in charts.__all__
        if inspect.isfunction(found := getattr(charts, name))
        and inspect.signature(found).return_annotation is str
        and name != "legend_mark"  # a part of a table
    }
    assert "scatter" in drawn
    assert drawn - called_in(EVERY_CHART) == set()
