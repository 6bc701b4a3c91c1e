"""Modules of this repository and what they import, read from their files."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@cache
def modules(folder: str) -> dict[str, Path]:
    """Return {dotted name: file} for every module below a folder of the root, except migrations."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "migrations" not in path.parts
    }


@cache
def imports(path: Path) -> set[str]:
    """Return what a file imports: each module, and each name in it as module.name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found
