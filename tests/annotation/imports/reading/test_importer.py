"""The formats named for a file of another kind."""

import json

import pytest

from annotation.imports.formats import IMPORTERS
from annotation.imports.reading.importer import importer_class, open_import, other_formats
from annotation.imports.reading.kinds import OtherKind
from tests.import_files import SEAHORSE_HEADER, lines

RATINGS = "article_id,system,rater,question,value"
SEAHORSE, GOLD = "SEAHORSE (TSV, CSV, XLSX)", "Gold set (JSONL, JSON, CSV, TSV, XLSX)"
EXAMPLES = "Articles and summaries (XLSX, CSV, TSV, JSONL, JSON)"
OF_RATINGS = "Ratings (CSV, TSV, XLSX, JSONL, JSON)"
SCORES = "Scores (CSV, TSV, XLSX, JSON, JSONL)"
OF_TABLES = f"{EXAMPLES} or {SEAHORSE} or {OF_RATINGS} or {SCORES} or {GOLD}"


def advice(format_name, path):
    with pytest.raises(OtherKind) as refusal:
        list(open_import(format_name, path).entries())
    return other_formats(refusal.value)


@pytest.mark.parametrize("format_name", ["summeval", "bartscore"])
@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (f"{RATINGS},comment", f"Choose a format that fits its columns: {OF_RATINGS} or {SCORES}."),
        (SEAHORSE_HEADER, f"Choose a format that fits its columns: {SEAHORSE}."),
        ("id,text", f"Convert the file, or choose a format that reads tables: {OF_TABLES}."),
    ],
)
def test_a_table_leads_to_the_formats_that_read_its_columns(tmp_path, format_name, header, sentence):
    assert advice(format_name, lines(tmp_path / "file", header, "a,b,c")) == sentence


@pytest.mark.parametrize(
    ("fields", "formats"),
    [
        (["id", "scores"], SCORES),
        (["id", "src", "sys_summs"], "BARTScore layout (JSON, JSONL)"),
        (
            ["article_id", "system", "summary", "article", "answers"],
            f"{EXAMPLES} or {GOLD}",
        ),
    ],
)
def test_json_leads_to_the_formats_that_read_its_fields(tmp_path, fields, formats):
    path = lines(tmp_path / "file", json.dumps(dict.fromkeys(fields, "")))
    assert advice("seahorse", path) == f"Choose a format that fits its fields: {formats}."


def test_json_that_fits_no_format_leads_to_all_that_read_json(tmp_path):
    sentence = advice("seahorse", lines(tmp_path / "file", "[", "]"))
    assert sentence.startswith(
        "Convert the file, or choose a format that reads JSON: Articles and summaries "
    )
    assert "SEAHORSE" not in sentence


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_format_reads_the_kinds_of_files_that_its_title_names(name):
    found = importer_class(name)
    assert bool(found.columns) == ("CSV" in found.title or "TSV" in found.title)
    assert bool(found.json_fields) == ("JSON" in found.title)
