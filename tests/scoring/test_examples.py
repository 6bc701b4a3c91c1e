import json
import math

import pytest

from scoring.contract import Scored
from scoring.examples import FaultyFile, read_examples, write_scores


@pytest.fixture
def write(tmp_path):
    """Writes lines (objects or raw text) to an examples file."""

    def writer(*lines):
        path = tmp_path / "examples.jsonl"
        path.write_text(
            "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines), "utf-8"
        )
        return path

    return writer


def faults(path):
    with pytest.raises(FaultyFile) as refusal:
        read_examples(path)
    return [str(each).removeprefix(f"{path}, ") for each in refusal.value.faults]


def test_it_reads_every_field(write):
    path = write(
        {
            "id": "1",
            "article": "Ein Text. Noch einer.",
            "summary": "Ein Text.",
            "references": ["Texte.", "Zwei."],
            "system": "s",
            "article_id": "a",
            "language": "de",
            "dataset": "d",
            "split": "test",
            "labels": {"fluency": 4, "coherence": 2.5},
            "article_sentences": ["Ein Text.", "Noch einer."],
            "summary_sentences": ["Ein Text."],
            "reference_sentences": ["Texte."],
            "questions": ["Was?"],
            "answers": ["Text"],
        }
    )
    [example] = read_examples(path)
    assert example.item.references == ("Texte.", "Zwei.")
    assert example.item.article_id == "a"
    assert example.item.language == "de"
    assert example.item.article_sentences == ("Ein Text.", "Noch einer.")
    assert example.item.reference_sentences == ("Texte.",)
    assert (example.system, example.dataset, example.split) == ("s", "d", "test")
    assert example.labels == {"fluency": 4.0, "coherence": 2.5}


def test_id_and_summary_are_enough_and_the_summary_may_be_empty(write):
    [example] = read_examples(write({"id": "1", "summary": ""}))
    assert example.item.summary == ""
    assert example.item.article is None
    assert example.item.article_id is None
    assert example.item.references == ()


def test_null_stands_for_a_field_left_out(write):
    [example] = read_examples(
        write({"id": "1", "summary": "S", "article": None, "labels": None, "references": None})
    )
    assert (example.item.article, example.item.references, example.labels) == (None, (), {})


def test_summaries_of_one_article_belong_together_without_article_id(write):
    rows = [{"id": str(n), "summary": "S", "article": text} for n, text in enumerate(["A b", "A  b", "A c"])]
    one, two, three = (each.item.article_id for each in read_examples(write(*rows)))
    assert one == two != three


def test_blank_lines_and_a_byte_order_mark_are_no_harm(write):
    path = write("", {"id": "1", "summary": "S"}, "  ")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().lstrip())
    assert len(read_examples(path)) == 1


def test_line_separators_inside_a_text_do_not_end_the_line(write):
    [example] = read_examples(write('{"id": "1", "summary": "one\u2028two"}'))
    assert example.item.summary == "one\u2028two"


def test_fields_of_other_programs_are_left_alone(write):
    assert read_examples(write({"id": "1", "summary": "S", "metric": 3, "systems_id": "x"}))


def test_all_faults_are_listed_with_line_field_found_and_expected(write):
    path = write(
        {"id": "1", "summary": "S", "references": "R"},
        {"summary": "S"},
        {"id": 3, "summary": "S", "split": "dev"},
        {"id": "4", "summary": None, "labels": {"fluency": "good", "grammar": True}},
        {"id": "5", "summary": "S", "article_sentences": ["a", 1], "labels": [1]},
        {"id": "", "summary": "S"},
    )
    number = "a number from -1e+60 to 1e+60"
    assert faults(path) == [
        "line 1, references: found R, expected a list of texts",
        "line 2, id: found nothing, expected a text",
        "line 3, id: found 3, expected a text",
        "line 3, split: found dev, expected one of train, validation, test",
        "line 4, summary: found null, expected a text",
        f"line 4, labels.fluency: found good, expected {number}; leave out what has no label",
        f"line 4, labels.grammar: found true, expected {number}; leave out what has no label",
        'line 5, article_sentences: found ["a", 1], expected a list of texts',
        "line 5, labels: found [1], expected an object with a number for each dimension",
        "line 6, id: found , expected a text",
    ]


def test_an_id_used_twice_is_a_fault_of_the_second_line(write):
    path = write({"id": "1", "summary": "S"}, {"id": "2", "summary": "S"}, {"id": "1", "summary": "T"})
    assert faults(path) == ["line 3, id: found 1, expected an id of its own: line 1 has this one"]


@pytest.mark.parametrize("misspelt", ["reference", "refrences", "Article", "label", "artcile_id"])
def test_a_misspelt_field_is_found_out(write, misspelt):
    [fault] = faults(write({"id": "1", "summary": "S", misspelt: ["R"]}))
    assert fault.startswith(f"line 1, {misspelt}: found a field of this name, expected the field ")


@pytest.mark.parametrize("line", ["{", "[1]", '"text"', "3", '{"id": "1", "summary": NaN}', "{'id': 1}"])
def test_a_line_that_is_no_object_is_a_fault(write, line):
    [fault] = faults(write({"id": "1", "summary": "S"}, line))
    assert fault.startswith("line 2, line: found ")
    assert fault.endswith("expected one JSON object")


def test_another_encoding_is_a_fault(tmp_path):
    path = tmp_path / "latin1.jsonl"
    path.write_bytes('{"id": "1", "summary": "Größe"}'.encode("latin-1"))
    assert faults(path) == ["line 1, line: found byte 0xf6, expected UTF-8"]


def test_an_empty_file_is_a_fault(write):
    assert faults(write()) == ["line 1, file: found no line, expected one JSON object a line"]


def test_scores_are_written_with_null_and_reason_where_there_is_none(tmp_path):
    path = tmp_path / "scores.jsonl"
    write_scores(
        path,
        [
            ("1", Scored.of({"fluency": 0.5})),
            ("ü", Scored({"fluency": 0.25, "relevance": math.nan}, {"relevance": "no reference"})),
        ],
    )
    assert path.read_text("utf-8").splitlines() == [
        '{"id": "1", "scores": {"fluency": 0.5}}',
        '{"id": "ü", "scores": {"fluency": 0.25, "relevance": null}, '
        '"reasons": {"relevance": "no reference"}}',
    ]


def test_a_scores_file_is_not_half_written(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text("the old one")

    def rows():
        yield "1", Scored.of({"fluency": 0.5})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scores(path, rows())
    assert [each.name for each in tmp_path.iterdir()] == ["scores.jsonl"]
    assert path.read_text() == "the old one"
