"""The summary of what a run costs, and the number of slow tests."""

import re
from pathlib import Path

from tests.conftest import LONGEST, SAME_ON_EVERY_DATABASE, WAITING
from tests.costs import Costs

pytest_plugins = ["pytester"]

TESTS = Path(__file__).resolve().parent
SLOW_TESTS = 2
"""Tests that carry the mark slow. This number may only fall."""

TEST_FILE = """
import time
import pytest

def test_quick():
    pass

def test_that_waits():
    time.sleep(0.03)

@pytest.mark.slow("waits")
def test_with_a_reason():
    time.sleep(0.03)
"""


def test_a_run_names_its_slowest_files_and_its_folders(pytester):
    pytester.makeini("[pytest]\nmarkers = slow(reason)")
    folder = pytester.mkpydir("app")
    (folder / "test_waiting.py").write_text(TEST_FILE)
    printed = pytester.runpytest_inprocess("-p", "no:django", plugins=[Costs(slow_s=0.02)]).stdout
    printed.fnmatch_lines(["*0.? s  app/test_waiting.py", "*processor seconds in all*", "*  app"])
    printed.fnmatch_lines(
        ["*longer than 0.02 s without the mark slow*", "app/test_waiting.py::test_that_waits*"]
    )
    printed.no_fnmatch_line("app/test_waiting.py::test_with_a_reason*")


def test_no_slow_test_is_added():
    files = set(TESTS.rglob("test_*.py")) - {Path(__file__)}
    reasons = [each for path in files for each in re.findall(r"\.slow\((.*)\)", path.read_text())]
    assert len(reasons) == SLOW_TESTS
    assert "" not in reasons


def test_the_lists_that_shorten_the_run_name_what_is_there():
    listed = {*LONGEST, *SAME_ON_EVERY_DATABASE, *WAITING}
    assert [path for path in sorted(listed) if not (TESTS.parent / path).exists()] == []
