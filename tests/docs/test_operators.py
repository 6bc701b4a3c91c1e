"""docs/operators.md has a row for every environment variable that Touchstone reads or mentions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

TABLE_ROW = re.compile(r"^\| (`[A-Z_`, ]+) \|", re.MULTILINE)
LIBRARIES_READ = re.compile(r"\bHF_[A-Z_]+\b|\b[A-Z]+_API_KEY\b|\b[A-Z]+_PROXY\b")
FOLDERS = ("touchstone", "annotation", "scoring", "metaeval", "script")


def sources() -> list[Path]:
    return [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts
    ]


def is_environment(node: ast.expr) -> bool:
    return ast.unparse(node) in ("os.environ", "env", "environ", "os")


def variables(node: ast.AST) -> Iterator[str]:
    """Yield the environment variables that one node reads, or mentions for a library."""
    match node:
        case ast.Call(ast.Attribute(owner, method), [ast.Constant(str(name)), *_]):
            if is_environment(owner) and method != "setdefault" and name.isupper():
                yield name
        case ast.Call(ast.Name("env" | "getenv"), [ast.Constant(str(name)), *_]):
            yield name
        case ast.Subscript(owner, ast.Constant(str(name))) if is_environment(owner):
            yield name
        case ast.Compare(ast.Constant(str(name)), [ast.In() | ast.NotIn()], [owner]) if is_environment(owner):
            yield name
        case ast.Constant(str(text)):
            yield from LIBRARIES_READ.findall(text)


def variables_in(source: str) -> set[str]:
    return {name for node in ast.walk(ast.parse(source)) for name in variables(node)}


def test_every_way_to_read_a_variable_is_found():
    source = """
A = env.bool("ONE")
B = env("TWO")
C = os.environ["THREE"]
D = os.environ.get("FOUR", "")
E = os.getenv("FIVE")
F = "SIX" in os.environ
raise Refused("set HF_SEVEN or HTTPS_PROXY")
os.environ.setdefault("NOT_READ", "")
"""
    assert variables_in(source) == {
        "ONE",
        "TWO",
        "THREE",
        "FOUR",
        "FIVE",
        "SIX",
        "HF_SEVEN",
        "HTTPS_PROXY",
    }


def test_every_environment_variable_is_documented():
    page = (ROOT / "docs" / "operators.md").read_text()
    documented = {name for row in TABLE_ROW.findall(page) for name in re.findall(r"[A-Z_]+", row)}
    read = set().union(*(variables_in(path.read_text()) for path in sources()))
    assert {"TOUCHSTONE_MODE", "WEIGHTS_DIR", "DATABASE_URL", "LOG_LEVEL"} <= read
    assert read - documented == set()
    assert "`_API_KEY`" in page  # a run may name any variable with this ending
