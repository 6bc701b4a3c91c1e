import copy
import json

import pytest

from tests.import_files import jsonl, read

SHEET = {"coherence": 1, "consistency": 2, "fluency": 3, "relevance": 4}
ROW = {
    "id": "dm-test-1",
    "decoded": "a ship froze .",
    "expert_annotations": [SHEET] * 3,
    "turker_annotations": [SHEET] * 5,
    "references": ["A ship froze.", "Ice."],
    "model_id": "M8",
    "filepath": "x.story",
    "text": "The harbour froze.",
}


def row(**changes):
    return copy.deepcopy(ROW) | changes


def test_experts_and_crowd_workers_are_separate_groups(tmp_path):
    (entry,) = read("summeval", jsonl(tmp_path / "f.jsonl", row())).entries
    assert [(rating.rater, rating.group) for rating in entry.ratings] == [
        *((f"expert-{number}", "expert") for number in (1, 2, 3)),
        *((f"crowd-{number}", "crowd") for number in (1, 2, 3, 4, 5)),
    ]
    assert all(rating.complete for rating in entry.ratings)


def test_references_are_not_offered_for_rating(tmp_path):
    (entry,) = read("summeval", jsonl(tmp_path / "f.jsonl", row())).entries
    assert [(s.system, s.is_reference, s.to_be_rated) for s in entry.summaries] == [
        ("M8", False, True),
        ("reference-1", True, False),
        ("reference-2", True, False),
    ]
    assert (entry.article.dataset, entry.article.split) == ("cnn_dailymail", "test")


def test_articles_may_come_from_another_file(tmp_path):
    unpaired = row()
    del unpaired["text"]
    articles = jsonl(tmp_path / "a.jsonl", {"id": "dm-test-1", "article": "From elsewhere."})
    found = read("summeval", jsonl(tmp_path / "f.jsonl", unpaired), companion=articles)
    assert [entry.article.text for entry in found.entries] == ["From elsewhere.", ""]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"id": None}, "id"),
        ({"model_id": ""}, "model_id"),
        ({"decoded": None}, "decoded"),
        ({"decoded": 3}, "decoded"),
        ({"decoded": "half \ud83d"}, "decoded"),
        ({"decoded": "nul \x00"}, "decoded"),
        ({"text": ["a"]}, "text"),
        ({"references": "one"}, "references"),
        ({"references": ["one", 2]}, "references.2"),
        ({"expert_annotations": None}, "expert_annotations"),
        ({"expert_annotations": [SHEET, "x"]}, "expert_annotations.2"),
        ({"expert_annotations": [SHEET | {"fluency": None}]}, "expert_annotations.1.fluency"),
        ({"turker_annotations": [SHEET | {"fluency": True}]}, "turker_annotations.1.fluency"),
        ({"turker_annotations": [SHEET | {"fluency": "5"}]}, "turker_annotations.1.fluency"),
    ],
)
def test_an_invalid_row_is_reported_with_line_and_field(tmp_path, changes, field):
    path = tmp_path / "f.jsonl"
    jsonl(path, row(), row(model_id="M9"))

    path.write_text(path.read_text() + json.dumps(row(**changes)) + "\n")
    assert read("summeval", path).where == [(3, field)]


def test_the_whole_real_file_is_read(shared):
    found = read("summeval", shared / "data/summeval/model_annotations.aligned.paired.12systems.jsonl.gz")
    assert not found.problems
    assert len(found.entries) == 1200
    assert {len(entry.ratings) for entry in found.entries} == {8}
    assert {len(entry.summaries) for entry in found.entries} == {12}
    assert len({entry.article.external_id for entry in found.entries}) == 100


def test_a_list_with_too_many_members_is_one_problem(tmp_path):
    found = read(
        "summeval", jsonl(tmp_path / "s.jsonl", row(references=[1] * 1001, expert_annotations=[1] * 1001))
    )
    assert found.where == [(1, "references"), (1, "expert_annotations")]
