"""Run a command that ends when the process that started it ends: end_with_parent.py PATIENCE_S COMMAND ...

Standard input is a pipe whose other end only that process holds. Linux and macOS close it with its holder,
even one that SIGKILL ended. The command then gets SIGTERM. What is left of its process group is killed
PATIENCE_S seconds later, or as soon as the command has ended.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress


def main() -> int:
    patience_s, *words = sys.argv[1:]
    # What the parent has opened for the command goes through to it, such as a listening socket.
    command = subprocess.Popen(words, stdin=subprocess.DEVNULL, process_group=0, close_fds=False)
    signal.signal(signal.SIGTERM, lambda *_: command.terminate())
    threading.Thread(target=stop_after_parent, args=(command, float(patience_s)), daemon=True).start()
    code = command.wait()
    kill_group(command)
    return code if code >= 0 else 128 - code  # as shells report a signal


def stop_after_parent(command: subprocess.Popen[bytes], patience_s: float) -> None:
    """Wait until the parent has ended, and stop the command."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    command.terminate()
    time.sleep(patience_s)
    kill_group(command)


def kill_group(command: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses where only zombies are left
        os.killpg(command.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
