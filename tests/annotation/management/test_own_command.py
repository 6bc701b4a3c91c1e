"""How Touchstone's own commands start."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from annotation.management.own_command import OwnCommand

ROOT = Path(__file__).resolve().parents[3]
OURS = [name for name, app in get_commands().items() if app in ("annotation", "scoring", "metaeval")]
START = """
import sys
sys.argv = ["manage.py", "weights", "list"]
exec(open("manage.py").read())
print("imported:", *sorted({"touchstone.urls", "torch", "transformers"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("name", OURS)
def test_every_command_is_one_of_ours(name):
    assert isinstance(load_command_class(get_commands()[name], name), OwnCommand)


def test_a_command_imports_neither_pages_nor_models():
    done = subprocess.run(
        [sys.executable, "-c", START], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout.splitlines()[-1].strip() == "imported:"
