"""What holds for all import formats."""

from pathlib import Path

from annotation.imports import formats


def test_every_format_has_a_test_of_its_own():
    modules = {path.stem for path in Path(formats.__file__).parent.glob("*.py")} - {"__init__"}
    tests = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert modules <= tests
