"""SummaQA compared with the authors' scorer: probability and answer of every question, and the means."""

from pathlib import Path

import pytest

from scoring.neural.extractive_qa import ExtractiveReader
from scoring.neural.summaqa import replies
from scoring.texts.answer_match import answer_f1
from tests.scoring.parity_sets import evaluator_with, parity_set

TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def parity(shared):
    folder, expected, items = parity_set(shared, "summaqa")
    return str(folder / "model"), items, {each["id"]: each for each in expected["items"]}


def test_every_answer_equals_the_authors(parity, record_property):
    model, items, expected = parity
    reader = ExtractiveReader(Path(model), two_segments=False)
    largest, count = 0.0, 0
    for item in items:
        found = replies(reader, [(question, item.summary) for question in item.questions])
        for reply, answer, theirs in zip(found, item.answers, expected[item.id]["per_question"], strict=True):
            assert reply.from_pieces == theirs["predicted_answer"]
            assert answer_f1(reply.from_pieces, answer) == pytest.approx(theirs["fscore"], abs=1e-12)
            largest = max(largest, abs(reply.probability - theirs["prob"]))
            count += 1
    record_property("largest difference of a probability", largest)
    assert count > 60
    assert largest < TOLERANCE


@pytest.mark.parametrize(
    ("settings", "name"),
    [({}, "avg_prob"), ({"measure": "f1", "answer_text": "pieces"}, "avg_fscore")],
    ids=["avg_prob", "avg_fscore"],
)
def test_means_equal_the_authors(parity, settings, name, record_property):
    model, items, expected = parity
    largest = 0.0
    found = evaluator_with("summaqa", {"model": model, **settings}).score(items)
    for item, scored in zip(items, found, strict=True):
        if item.summary.strip():
            largest = max(largest, abs(scored.values["general"] - expected[item.id][name]))
        else:
            assert scored.reasons == {"general": "empty summary"}
    record_property("largest difference of a mean", largest)
    assert largest < TOLERANCE
