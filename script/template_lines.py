"""Print each line of a template that is too long, with its file and number. Exit with 1 if there is one."""

import sys
from pathlib import Path

LONGEST = 160  # characters
TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


def main() -> int:
    too_long = [
        f"{path.relative_to(TEMPLATES.parent)}:{number}: {len(line)} characters, at most {LONGEST}"
        for path in sorted(TEMPLATES.rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST
    ]
    print("\n".join(too_long), end="\n" if too_long else "", file=sys.stderr)
    return bool(too_long)


if __name__ == "__main__":
    sys.exit(main())
