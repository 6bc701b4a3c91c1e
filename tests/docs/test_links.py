"""Links between documents, and the list of dependencies."""

import re

from tests.conftest import ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "annotation" / "demo").glob("*.md")]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(text: str) -> set[str]:
    """Return the anchors that Git hosts make from the headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_to_a_file_and_a_heading():
    wrong = []
    for page in PAGES:
        for path, anchor in LINK.findall(page.read_text()):
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
                wrong.append(f"{page.relative_to(ROOT)}: {path}#{anchor}")
    assert wrong == []


def test_every_dependency_is_explained():
    rows = (ROOT / "docs" / "dependencies.md").read_text().splitlines()
    explained = {name for row in rows if row.startswith("| ") for name in row.split(" | ")[0][2:].split(", ")}
    pinned = set()
    for name in ("requirements.txt", "requirements-test.txt"):
        pinned |= set(re.findall(r"^([\w.-]+)(?:\[\w+\])?==", (ROOT / name).read_text(), re.MULTILINE))
    assert len(pinned) > 30
    assert pinned - explained == set()
