"""The Python client, loaded from its file as a script of its user does."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

FILE = Path(__file__).resolve().parents[2] / "clients" / "python" / "touchstone_client.py"


@cache
def load_client() -> ModuleType:
    spec = importlib.util.spec_from_file_location("touchstone_client", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
