"""Print the test files that a change can break: python -m tests.affected [REVISION].

The change is all that differs from the revision: by default what is not committed, and the commits that
main's upstream lacks. A module affects the tests of its room, and the modules that import it with their
tests. What is further up is left to the whole run, because nearly every page is above every model.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePath

from tests.imports import ROOT, imports, modules

APPS = ("annotation", "scoring", "metaeval", "touchstone")
EVERYTHING = re.compile(
    r"requirements|constraints|pyproject|touchstone/settings|\w+/migrations/|tests/(conftest|factories)\.py"
)
"""Paths on which every test depends."""
OF_THE_HOUSE = (
    "tests/test_imports_run_one_way.py",
    "tests/test_names.py",
    "tests/docs",
    "tests/script/test_lint.py",
)
"""Quick tests that read the whole repository."""
OF_PAGES = ("tests/test_access_matrix.py", "tests/security/test_headers.py")
"""Tests of every page, for changes of templates, views, addresses and permissions."""
WEB = re.compile(r"(views|urls|api|middleware|permissions)\.py$")


def affected(changed: Iterable[str]) -> set[str]:
    """Return the test files and folders, relative to the root, that changes of these files can break."""
    changed = set(changed)
    if any(EVERYTHING.match(path) for path in changed):
        return {"tests"}
    touched = {name for name, path in every_module().items() if relative(path) in changed}
    touched |= set(users_of_templates(path for path in changed if path.startswith("templates/")))
    nearby = touched | {name for name in every_module() if not is_test(name) and imported(name) & touched}
    found = {
        relative(path) for name, path in every_module().items() if is_test(name) and imported(name) & nearby
    }
    found |= {path for path in changed if is_test(path.removesuffix(".py").replace("/", "."))}
    pages = {path for name in nearby if WEB.search(path := relative(every_module()[name]))}
    found |= {folder for path in changed | pages for folder in rooms_tests(path)}
    if any(path.startswith(("static/", "tests/browser/", "templates/base")) for path in changed):
        found.add("tests/browser")
    if any(path.startswith("script/") for path in changed):
        found.add("tests/script")
    if any(WEB.search(path) or path.startswith("templates/") for path in changed):
        found |= set(OF_PAGES)
    return {path for path in found | set(OF_THE_HOUSE if changed else ()) if (ROOT / path).exists()}


@cache
def every_module() -> dict[str, Path]:
    """Return {dotted name: file} of the apps and the tests."""
    return {name: path for folder in (*APPS, "tests") for name, path in modules(folder).items()}


def imported(module: str) -> set[str]:
    """Return the modules of this repository that the module imports; a test also has its helpers' imports."""
    found = imports(every_module()[module]) & every_module().keys()
    if module.startswith("tests."):
        for helper in {name for name in found if name.startswith("tests.") and not is_test(name)}:
            found |= imports(every_module()[helper]) & {
                name for name in every_module() if name.startswith("tests.")
            }
    return found


def is_test(module: str) -> bool:
    """Return whether the module has tests, and is no helper."""
    return module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def rooms_tests(path: str) -> Iterator[str]:
    """Yield the folder of the tests of the room that a file of an app is in, or of a helper's own tests."""
    parts = PurePath(path).parts
    if parts[0] in APPS and len(parts) > 2:
        yield str(PurePath("tests", *parts[:2]))
    elif parts[0] == "tests" and len(parts) > 2 and not parts[-1].startswith("test_"):
        yield str(PurePath(path).parent)


def users_of_templates(changed: Iterable[str]) -> Iterator[str]:
    """Yield the modules that name one of these templates, or a template that includes or extends one."""
    names = {path.removeprefix("templates/") for path in changed}
    texts = {
        relative(path).removeprefix("templates/"): path.read_text()
        for path in (ROOT / "templates").rglob("*.html")
    }
    while more := {
        name
        for name, text in texts.items()
        if name not in names and any(f'"{each}' in text for each in names)
    }:
        names |= more
    for module, path in every_module().items():
        if not module.startswith("tests.") and any(f'"{each}' in path.read_text() for each in names):
            yield module


def changed_files(revision: str) -> set[str]:
    """Return the files that differ from the revision, with those that git does not know yet."""
    commands = (
        ("diff", "--name-only", "--no-renames", revision),
        ("ls-files", "--others", "--exclude-standard"),
    )
    return {path for command in commands for path in git(*command).splitlines()}


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def upstream() -> str:
    """Return the revision that main's upstream has, or the last commit where there is no upstream."""
    return git("for-each-ref", "--format=%(upstream)", "refs/heads/main").strip() or "HEAD"


if __name__ == "__main__":
    print("\n".join(sorted(affected(changed_files(sys.argv[1] if len(sys.argv) > 1 else upstream())))))
