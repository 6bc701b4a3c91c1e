"""Print each American spelling in documents, templates, comments and strings. Exit with 1 if there is one.

script/spelling.py [FILE ...] checks these files, or all that Git tracks. Names are exempt: code in documents,
tags in templates, and in Python everything but comments and strings of several words.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = ("tests/", "benchmarks/")
TITLES = {"ANALYZE", "Authorization", "Summarization"}
"""In SQL, in HTTP and in the titles of papers."""
STEMS = (
    "anonym|author|capital|categor|character|custom|emphas|equal|final|general|initial|local|maxim|minim|normal"
    "|optim|organ|penal|quant|random|real|recogn|regular|serial|special|stabil|standard|summar|synchron|util|visual"
)
AMERICAN = re.compile(
    rf"\b(?:un|re|de)?(?:{STEMS})iz(?:e|es|ed|er|ers|ing|ations?)\b"
    r"|\b(?:behavior|color|favor|favorite|flavor|honor|labor|neighbor)(?:s|ed|ing|al|hood|ly)?\b"
    r"|\b(?:cancel|label|model|signal|travel)(?:ed|ing)\b"
    r"|\b(?:analyz|catalyz|paralyz)(?:e|es|ed|ing)\b|\bcenter(?:s|ed|ing)?\b|\bgr[a]y(?:s|ed)?\b"
    r"|\bjudgments?\b|\b(?:de|of)fenses?\b|\bskeptic\w*|\bfulfills?\b",
    re.IGNORECASE,
)
NAMES = {
    ".md": r"```.*?```|`[^`]*`|\]\([^)]*\)|\"[^\"]*\"",  # also quotations
    ".html": r"\{[%#{].*?[}%#]\}|</?[\w-]+(?:\s[^>]*)?>",
    ".py": r"`[^`]*`|\"[^\"]*\"|\w*[_.]\w+|<[^>]*>",
}


def main(files: list[str]) -> int:
    if not files:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        files = [name for name in listed.stdout.split("\n") if not name.startswith(SKIPPED)]
    found = [
        f"{name}:{line}: {word!r} is American"
        for name in files
        if Path(name).suffix in NAMES and "migrations" not in name
        for line, word in american_in(ROOT / name)
    ]
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return bool(found)


def american_in(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and word of each American spelling in a file."""
    content = path.read_text("utf-8")
    texts = prose_in(content) if path.suffix == ".py" else [(1, content)]
    for first, text in texts:
        prose = re.sub(NAMES[path.suffix], lines_alone, text, flags=re.DOTALL)
        for match in AMERICAN.finditer(prose):
            if match.group() not in TITLES:
                yield first + prose[: match.start()].count("\n"), match.group()


def lines_alone(found: re.Match[str]) -> str:
    """Return the line breaks of a removed name, so that the numbers of later lines stay right."""
    return "\n" * found.group().count("\n") or " "


def prose_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments, docstrings and strings of several words, with the line where each begins."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
