"""One name for one class, and docstrings that begin plainly, in all apps."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from tests.imports import modules
from tests.rooms import ROOMS

DJANGOS_OWN = {"Command", "DatabaseWrapper"}
"""The names by which Django finds a management command and a database backend."""


CLAUSES = {
    *("What", "How", "Whether", "Which", "Where", "When", "Why", "Who", "Whom", "Whose"),
    *("Of", "That", "Those", "Most", "As", "If", "Without", "For", "From", "By", "In", "On", "With"),
    *("At", "Over", "Until", "Unless", "While", "Such"),
}
"""Words that begin a clause. A docstring says "Return ..." of a function, or names a class or a value."""

EXCEPTION = re.compile(r"(None|Empty|nan|inf)(:| (if|for|unless|until|where|when|while|with|without)\b)")
"""Exceptions that come after the name of a value: "Start time; None until then."."""


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


def values_docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of constants and fields, which are texts directly after an assignment."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef)):
            continue
        for assigned, after in pairwise(node.body):
            match after:
                case ast.Expr(value=ast.Constant(value=str() as docstring)):
                    if isinstance(assigned, (ast.Assign, ast.AnnAssign)):
                        yield docstring


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


def test_no_docstring_of_a_value_begins_with_a_clause_or_an_exception():
    source = 'KEY = ""\n"""By key."""\nclass Run:\n  started: int | None\n  """Start; None until then."""'
    assert list(values_docstrings(ast.parse(source))) == ["By key.", "Start; None until then."]
    found = [
        f"{module}: {docstring}"
        for module, tree in trees().items()
        for docstring in values_docstrings(tree)
        if begins_with_a_clause(docstring) or EXCEPTION.match(docstring)
    ]
    assert not found, found


def help_texts(tree: ast.Module) -> Iterator[str]:
    """Yield the literal help texts of fields, parameters and arguments of commands."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="help" | "help_text", value=ast.Constant(value=str() as text)):
                yield text
            case ast.Assign(targets=[ast.Name(id="help_texts")], value=ast.Dict(values=texts)):
                yield from (text.value for text in texts if isinstance(text, ast.Constant))


def test_no_help_text_begins_with_a_clause():
    source = 'Integer(help_text="How often.")\nhelp_texts = {"name": "Number of times."}'
    assert list(help_texts(ast.parse(source))) == ["Number of times.", "How often."]
    found = [
        f"{module}: {text}"
        for module, tree in trees().items()
        if ".migrations." not in module
        for text in help_texts(tree)
        if begins_with_a_clause(text) and not text.startswith("For example ")
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
