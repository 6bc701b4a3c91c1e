"""docs/statistics.md matches the declarations of the statistics."""

import subprocess
import sys

from tests.conftest import ROOT


def test_every_statistic_is_documented():
    checked = subprocess.run(
        [sys.executable, "script/document_statistics", "--check"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
