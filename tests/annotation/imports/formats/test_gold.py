import json
from pathlib import Path

import pytest

import annotation
from tests.import_files import jsonl, lines, read, refused

ROW = {
    "article_id": "g1",
    "language": "en",
    "title": "Ice",
    "article": "The harbour froze.",
    "system": "lead",
    "summary": "A ship.",
    "answers": {"fluency": {"value": 5, "explanation": "Fine."}},
}
COLUMNS = "article_id,system,article,summary,question,value,explanation"


def test_a_row_gives_a_summary_with_agreed_answers(tmp_path):
    (entry,) = read("gold", jsonl(tmp_path / "g.jsonl", ROW)).entries
    assert (entry.article.title, entry.article.text) == ("Ice", "The harbour froze.")
    assert not entry.summaries[0].to_be_rated
    answer = entry.gold[0].answers["fluency"]
    assert (answer.value, answer.comment) == ("5", "Fine.")


def test_a_table_has_a_row_for_each_question(tmp_path):
    path = lines(
        tmp_path / "g.csv", COLUMNS, "g1,lead,Long.,A.,fluency,5,Fine.", "g1,lead,Long.,A.,coherence,1,Bad."
    )
    found = read("gold", path)
    assert not found.problems
    (gold,) = [record for entry in found.entries for record in entry.gold]
    assert {name: (answer.value, answer.comment) for name, answer in gold.answers.items()} == {
        "fluency": ("5", "Fine."),
        "coherence": ("1", "Bad."),
    }


def test_a_second_answer_to_a_question_in_a_table_is_invalid(tmp_path):
    row = "g1,lead,Long.,A.,fluency,5,Fine."
    assert read("gold", lines(tmp_path / "g.csv", COLUMNS, row, row)).where == [(3, "question")]


def test_a_table_without_required_columns_is_refused(tmp_path):
    assert refused("gold", lines(tmp_path / "g.csv", "article_id,system", "g1,lead")).line == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"article_id": ""}, "article_id"),
        ({"system": None}, "system"),
        ({"article": None}, "article"),
        ({"summary": None}, "summary"),
        ({"language": "english"}, "language"),
        ({"answers": None}, "answers"),
        ({"answers": {"fluency": 5}}, "answers.fluency"),
        ({"answers": {"fluency": {"value": 5}}}, "answers.fluency.explanation"),
        ({"answers": {"fluency": {"value": 5, "explanation": " "}}}, "answers.fluency.explanation"),
        ({"answers": {"fluency": {"value": None, "explanation": "x"}}}, "answers.fluency.value"),
        ({"answers": {"fluency": {"value": [5], "explanation": "x"}}}, "answers.fluency.value"),
    ],
)
def test_an_invalid_row_is_reported_with_line_and_field(tmp_path, changes, field):
    found = read("gold", jsonl(tmp_path / "g.jsonl", ROW, ROW | changes))
    assert (2, field) in found.where
    assert {line for line, _ in found.where} == {2}


def test_the_demos_gold_set_is_read():
    found = read("gold", Path(annotation.__file__).parent / "demo/gold.jsonl")
    assert not found.problems
    assert all(record.answers for entry in found.entries for record in entry.gold)


@pytest.mark.parametrize(("row", "field"), [("fluency,,Fine.", "value"), ("fluency,5,", "explanation")])
def test_a_table_row_without_value_or_explanation_is_invalid(tmp_path, row, field):
    found = read("gold", lines(tmp_path / "g.csv", COLUMNS, f"g1,lead,Long.,A.,{row}"))
    assert (found.where, found.entries) == ([(2, field)], [])


def test_a_valid_row_after_an_invalid_one_answers_the_question(tmp_path):
    wrong, right = "g1,lead,Long.,A.,fluency,,Fine.", "g1,lead,Long.,A.,fluency,5,Fine."
    found = read("gold", lines(tmp_path / "g.csv", COLUMNS, wrong, right))
    assert found.where == [(2, "value")]
    (gold,) = [record for entry in found.entries for record in entry.gold]
    assert gold.answers["fluency"].line == 3


def test_a_json_array_reads_like_lines(tmp_path):
    path = tmp_path / "g.json"
    path.write_text(json.dumps([ROW]))
    (entry,) = read("gold", path).entries
    assert entry.gold == read("gold", jsonl(tmp_path / "g.jsonl", ROW)).entries[0].gold
