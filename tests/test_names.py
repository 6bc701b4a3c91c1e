"""One name for one class, in all apps."""

import ast
from collections import defaultdict

from tests.test_imports_run_one_way import APPS, modules

DJANGOS_OWN = {"Command"}
"""The name by which Django finds a management command."""


def test_no_two_classes_share_a_name_unless_one_is_the_model_of_the_other():
    places = defaultdict(list)
    for app in APPS:
        for module, path in modules(app).items():
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and node.name not in DJANGOS_OWN:
                    places[node.name].append(module)
    shared = {
        name: found
        for name, found in places.items()
        if sum(".models" not in module for module in found) > 1
        or sum(".models" in module for module in found) > 1
    }
    assert not shared, shared
