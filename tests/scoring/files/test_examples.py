import gzip
import json
import math

import pytest

from annotation.imports.reading.records import FileRefused
from scoring.contract.scores import Scored
from scoring.files.examples import read_examples, write_scores
from tests.import_files import within_cpu_seconds


@pytest.fixture
def write(tmp_path):
    """Return a function that writes lines (objects or raw text) to an examples file."""

    def writer(*lines):
        path = tmp_path / "examples.jsonl"
        path.write_text(
            "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines), "utf-8"
        )
        return path

    return writer


def faults(path):
    with pytest.raises(FileRefused) as refusal:
        read_examples(path)
    return [str(each).removeprefix(f"{path}, ") for each in refusal.value.problems]


def test_every_field_is_read(write):
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


def test_only_id_and_summary_are_required(write):
    [example] = read_examples(write({"id": "1", "summary": ""}))
    assert example.item.summary == ""
    assert example.item.article is None
    assert example.item.article_id is None
    assert example.item.references == ()


def test_null_means_a_missing_field(write):
    [example] = read_examples(
        write({"id": "1", "summary": "S", "article": None, "labels": None, "references": None})
    )
    assert (example.item.article, example.item.references, example.labels) == (None, (), {})


def test_summaries_of_one_article_share_a_digest_without_article_id(write):
    rows = [{"id": str(n), "summary": "S", "article": text} for n, text in enumerate(["A b", "A  b", "A c"])]
    one, two, three = (each.item.article_id for each in read_examples(write(*rows)))
    assert one == two != three


def test_blank_lines_and_byte_order_mark_are_ignored(write):
    path = write("", {"id": "1", "summary": "S"}, "  ")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().lstrip())
    assert len(read_examples(path)) == 1


def test_line_separators_inside_a_text_do_not_end_the_line(write):
    [example] = read_examples(write('{"id": "1", "summary": "one\u2028two"}'))
    assert example.item.summary == "one\u2028two"


def test_unknown_fields_are_ignored(write):
    assert read_examples(write({"id": "1", "summary": "S", "metric": 3, "systems_id": "x"}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("summary", "half \ud83d"),
        ("article", "\ude00 half"),
        ("references", ["whole", "\ud83d"]),
        ("labels", {"\ud83d": 1}),
        ("scores", {"one": {"\ud83d": 1}}),
    ],
)
def test_half_a_surrogate_pair_is_refused(write, field, value):
    path = write({"id": "1", "summary": "whole \U0001f600"}, {"id": "2", "summary": "S", field: value})
    [fault] = faults(path)
    assert fault.startswith(f"line 2, {field}: found half a surrogate pair")


def test_all_faults_are_listed_with_line_field_found_and_expected(write):
    path = write(
        {"id": "1", "summary": "S", "references": "R"},
        {"summary": "S"},
        {"id": 3, "summary": "S", "split": "dev"},
        {"id": "4", "summary": None, "labels": {"fluency": "good", "grammar": True, "focus": None}},
        {"id": "5", "summary": "S", "article_sentences": ["a", 1], "labels": [1]},
        {"id": "", "summary": "S"},
    )
    assert faults(path) == [
        "line 1, references: found 'R', expected a list of texts",
        "line 2, id: found nothing, expected a text",
        "line 3, id: found 3, expected a text",
        "line 3, split: found 'dev', expected one of train, validation, test",
        "line 4, summary: found nothing, expected a text",
        "line 4, labels.fluency: found 'good', expected a number",
        "line 4, labels.grammar: found True, expected a number",
        "line 4, labels.focus: found nothing, expected a number; leave out what has no label",
        "line 5, article_sentences.2: found 1, expected a text",
        "line 5, labels: found [1], expected an object",
        "line 6, id: found '', expected a text",
    ]


def test_repeated_id_is_a_fault_of_the_second_line(write):
    path = write({"id": "1", "summary": "S"}, {"id": "2", "summary": "S"}, {"id": "1", "summary": "T"})
    assert faults(path) == ["line 3, id: found '1', expected an id of its own: line 1 has this one"]


@pytest.mark.parametrize("misspelt", ["reference", "refrences", "Article", "label", "artcile_id"])
def test_misspelt_field_is_a_fault(write, misspelt):
    [fault] = faults(write({"id": "1", "summary": "S", misspelt: ["R"]}))
    assert fault.startswith(f"line 1, {misspelt}: found a field of this name, expected the field ")


@pytest.mark.parametrize("line", ["{", "[1]", '"text"', "3", '{"id": "1", "summary": NaN}', "{'id': 1}"])
def test_line_without_a_json_object_is_a_fault(write, line):
    [fault] = faults(write({"id": "1", "summary": "S"}, line))
    assert fault.startswith("line 2, line: found ")
    assert fault.endswith("expected one JSON object")


def test_another_encoding_is_a_fault(tmp_path):
    path = tmp_path / "latin1.jsonl"
    path.write_bytes('{"id": "1", "summary": "Größe"}'.encode("latin-1"))
    assert faults(path) == ["line 1, line: found byte 0xf6 at byte 27 of the line, expected UTF-8"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"id": "1", "id": "2", "summary": "S"}', "the key 'id' twice in one object"),
        ('{"id": "1", "summary": ' + "[" * 990 + "]" * 990 + "}", "JSON nested too deeply, over 100 levels"),
        ('{"id": "1", "summary": ' + "[" * 100_000, "JSON nested too deeply, over 100 levels"),
    ],
)
def test_invalid_values_are_faults(write, line, found):
    assert faults(write(line)) == [f"line 1, line: found {found}, expected one JSON object"]


def test_reading_stops_after_a_thousand_faults(write):
    path = write(*["{}"] * 100_000)
    with (
        within_cpu_seconds(20),
        pytest.raises(
            FileRefused, match="more than 1,000 problems, expected fewer; reading stopped"
        ) as refusal,
    ):
        read_examples(path)
    assert str(refusal.value).count("\n") == 1000


def test_a_compressed_file_is_read(write):
    path = write({"id": "1", "summary": "S"})
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert read_examples(path)[0].item.summary == "S"


def test_an_empty_file_is_a_fault(write):
    assert faults(write()) == ["line 1, file: found no line, expected one JSON object a line"]


def test_missing_scores_are_written_as_null_with_a_reason(tmp_path):
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


def test_scores_file_appears_complete_or_not_at_all(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text("the old one")

    def rows():
        yield "1", Scored.of({"fluency": 0.5})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scores(path, rows())
    assert [each.name for each in tmp_path.iterdir()] == ["scores.jsonl"]
    assert path.read_text() == "the old one"
