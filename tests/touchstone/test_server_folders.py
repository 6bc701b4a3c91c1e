"""The temporary folders that a server's processes share."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = """
import os, stat, sys
from touchstone.server_folders import make_server_folder
folder = make_server_folder("trial")
assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
if os.fork() == 0:
    sys.exit()
os.wait()
assert os.listdir(os.environ["TMPDIR"]) == [os.path.basename(folder)]
"""


def test_a_folder_outlives_forked_processes_and_is_removed_with_its_maker(tmp_path):
    surroundings = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=surroundings, check=True)
    assert list(tmp_path.iterdir()) == []
