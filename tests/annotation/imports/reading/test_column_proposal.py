import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.formats.examples import ExamplesImporter
from annotation.imports.formats.ratings import RatingsImporter
from annotation.imports.reading.column_proposal import SYNONYMS, propose_columns
from annotation.imports.reading.mapping import read_mapping

EXAMPLES, RATINGS = ExamplesImporter.mapped_fields, RatingsImporter.mapped_fields
ARTICLE = "The harbour froze over and the ships waited for the spring. " * 10
SUMMARY = "Ships waited in the frozen harbour."
COLUMNS = {
    "short": lambda _: "x",
    "id": lambda number: str(number),
    "system": lambda number: ("bart", "t5")[number % 2],
    "summary": lambda number: f"{SUMMARY} {number}",
    "article": lambda number: f"{ARTICLE} {number}",
    "number": lambda number: str(number % 5),
    "url": lambda number: f"https://news.example/articles/{number}/the-harbour",
    "code": lambda _: "de",
    "names": lambda number: ("abs", "ext")[number % 2],
    "codes": lambda number: ("de", "pt-BR")[number % 2],
}


def propose(fields, rows=10, **header):
    """Propose for columns by name, each with the content that COLUMNS calls so."""
    cells = [[COLUMNS[content](number) for content in header.values()] for number in range(rows)]
    return propose_columns(list(header), cells, fields, may_be_wide=fields == EXAMPLES)


@pytest.mark.parametrize(
    ("header", "pairs"),
    [
        ({"article_id": "id", "system": "system", "summary": "summary"}, []),
        (
            {"DocID": "id", "Model": "system", "output": "summary", "source": "article"},
            ["article_id=DocID", "system=Model", "summary=output", "article=source"],
        ),
        (
            {"doc id": "id", "generated-summary": "summary", "Lang": "code"},
            ["article_id=doc id", "summary=generated-summary", "language=Lang"],
        ),
        ({"id": "id", "a": "summary", "b": "article"}, ["article_id=id", "summary=a", "article=b"]),
        ({"id": "id", "a": "summary", "b": "system"}, ["article_id=id", "system=b", "summary=a"]),
        ({"a": "summary", "Sprache": "codes", "b": "system"}, ["system=b", "summary=a", "language=Sprache"]),
        ({"a": "summary", "b": "names"}, ["system=b", "summary=a"]),
        ({"text": "summary", "source": "article"}, ["summary=text", "article=source"]),
        ({"source": "url", "document": "id", "hyp": "summary"}, ["summary=hyp"]),
        ({"a": "number", "b": "code", "c": "url"}, []),
        ({"a": "summary", "b": "summary"}, []),
        ({"Model": "system", "model": "system", "summary": "summary"}, []),
    ],
)
def test_columns_of_one_summary_per_row(header, pairs):
    proposal = propose(EXAMPLES, **header)
    assert proposal.pairs == pairs
    assert proposal.shape == "long"


def test_several_columns_of_texts_beside_an_article_are_systems():
    proposal = propose(
        EXAMPLES, id="id", doc="article", gpt4="summary", bart="summary", reference="summary", link="url"
    )
    assert proposal.shape == "wide"
    assert proposal.systems == {"gpt4": "gpt4", "bart": "bart"}
    assert proposal.columns == {"article_id": "id", "article": "doc", "references": "reference"}
    assert proposal.pairs[-2:] == ["summary:gpt4=gpt4", "summary:bart=bart"]


def test_columns_of_ratings():
    proposal = propose(
        RATINGS, bbcid="id", system="system", summary="summary", is_factual="number", worker_id="short"
    )
    assert proposal.pairs == ["article_id=bbcid", "rater=worker_id"]


def test_a_header_without_rows_is_judged_by_its_names():
    assert propose(EXAMPLES, rows=0, doc="id", model="id", output="id", x="id").pairs == [
        "system=model",
        "summary=output",
        "article=doc",
    ]
    assert propose_columns([], [], EXAMPLES).pairs == []


def test_a_synonym_belongs_to_one_field():
    names = [name for synonyms in SYNONYMS.values() for name in synonyms]
    assert len(names) == len(set(names))


@given(st.data())
def test_a_proposal_is_a_mapping_of_different_columns(data):
    names = st.sampled_from([*(name for names in SYNONYMS.values() for name in names), "a", "B c", ""])
    header = data.draw(st.lists(names, max_size=6, unique=True))
    cells = st.sampled_from(["", "x", "1", SUMMARY, ARTICLE])
    row = st.lists(cells, min_size=len(header), max_size=len(header))
    proposal = propose_columns(header, data.draw(st.lists(row, max_size=4)), EXAMPLES, may_be_wide=True)
    columns = [*proposal.columns.values(), *proposal.systems.values()]
    assert len(columns) == len(set(columns))
    assert set(columns) <= set(header)
    read_mapping(proposal.pairs, EXAMPLES, several="summary")
