"""Temporary folders that a server's processes share."""

import atexit
import os
import shutil
import tempfile


def make_server_folder(kind: str) -> str:
    """Make a folder for this process and those that it forks, and remove it when this process ends."""
    folder = tempfile.mkdtemp(prefix=f"touchstone-{kind}-")
    atexit.register(_remove_by, os.getpid(), folder)
    return folder


def _remove_by(pid: int, folder: str) -> None:
    """Remove the folder in the process that made it; those that it forked end in the same way."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
