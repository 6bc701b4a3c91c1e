"""One name for one class, and docstrings that begin plainly, in all apps."""

import ast
from collections import defaultdict
from functools import cache

from tests.imports import modules
from tests.rooms import ROOMS

DJANGOS_OWN = {"Command"}
"""The name by which Django finds a management command."""


CLAUSES = {
    *("What", "How", "Whether", "Which", "Where", "When", "Why", "Who", "Whom", "Whose"),
    *("Of", "That", "Those", "Most", "As", "If", "Without", "For", "From", "By", "In", "On", "With"),
}
"""Words that begin a clause. A docstring says "Return ..." of a function, or names what a class is."""


@cache
def trees() -> dict[str, ast.Module]:
    """Return the parsed modules of all apps by name."""
    return {
        module: ast.parse(path.read_text())
        for app in (*ROOMS, "touchstone")
        for module, path in modules(app).items()
    }


def begins_with_a_clause(docstring: str | None) -> bool:
    return bool(docstring) and docstring.split(maxsplit=1)[0].rstrip(",:") in CLAUSES


def test_no_docstring_begins_with_a_clause():
    assert begins_with_a_clause("Whether it is done.")
    assert not begins_with_a_clause("Return whether it is done.")
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        f"{module}: {docstring}"
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, documented) and begins_with_a_clause(docstring := ast.get_docstring(node))
    ]
    assert not found, found


def test_no_two_classes_share_a_name_unless_one_is_the_model_of_the_other():
    places = defaultdict(list)
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name not in DJANGOS_OWN:
                places[node.name].append(module)
    shared = {
        name: found
        for name, found in places.items()
        if sum(".models" not in module for module in found) > 1
        or sum(".models" in module for module in found) > 1
    }
    assert not shared, shared
