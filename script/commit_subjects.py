"""Print each new commit whose subject is too long. Exit with 1 if there is one.

New commits are those that the main branch's upstream lacks. Without an upstream, nothing is checked.
"""

import subprocess
import sys

LONGEST = 72  # characters


def main() -> int:
    listed = subprocess.run(
        ["git", "log", "--no-merges", "--format=%h %s", "main@{upstream}..HEAD"],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    commits = (line.split(" ", 1) for line in listed.stdout.splitlines())
    too_long = [
        f"{commit}: the subject has {len(subject)} characters, at most {LONGEST}: {subject}"
        for commit, subject in commits
        if len(subject) > LONGEST
    ]
    print("\n".join(too_long), end="\n" if too_long else "", file=sys.stderr)
    return bool(too_long)


if __name__ == "__main__":
    sys.exit(main())
