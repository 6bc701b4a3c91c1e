"""The length of the glossary and the use of its terms."""

import re

from tests.conftest import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
TERM = re.compile(r"^\| (?!term |---)([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def words_of_pages() -> str:
    pages = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    return "\n".join(page.read_text().lower() for page in pages if page != GLOSSARY)


def test_it_has_forty_to_sixty_unique_terms_with_short_meanings():
    terms = TERM.findall(GLOSSARY.read_text())
    assert 40 <= len(terms) <= 60
    assert len({term for term, _ in terms}) == len(terms)
    assert [term for term, meaning in terms if len(meaning) > 120 or not meaning.endswith(".")] == []


def test_every_term_occurs_on_a_page_or_in_a_document():
    said = words_of_pages()
    assert [term for term, _ in TERM.findall(GLOSSARY.read_text()) if term.lower() not in said] == []
