"""The reply reader on 14,700 unedited replies of gpt-3.5-turbo-0301 (Shen et al. 2023)."""

import gzip
import json
import re

import pytest

from scoring.prompts.marks import MarkScale, Unread
from scoring.prompts.replies import read_score

SCALES = {
    "rts": MarkScale(1, 5, decimals=True),  # reasons, then a score from 1 to 5; some are 3.5
    "stareval": MarkScale(1, 5),  # "Three stars. The summary ..."
    "mcq": MarkScale(1, 5, letters="ABCDE"),
}
DIGITS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
NUMBER = r"([1-5](?:\.5)?|one|two|three|four|five)\b"
READ_BY_HAND = {
    "alcohol abuse could result in a not guilty verdict; 3 out of 5.": 3,
    "lacks some details about Clattenburg's recent record as a referee; 4 out of 5.": 4,
    "misses the mention of a new animation featuring Kane; 4 out of 5.": 4,
    "information about the plot or characters, therefore, it is irrelevant (1/5).": 1,
    "lacks detail on the match itself and the significance of the win; 3 out of 5.": 3,
    "lacks some context and details about the teams' positions and performances; 3 out of 5.": 3,
}
NOT_READ = {
    "the emotional plea made by the parents, therefore, it is irrelevant (1).",
    "does not accurately reflect the content of the article, therefore it is irrelevant (1).",
}
"""People read these as the mark 1; a program cannot exclude a footnote."""


@pytest.fixture(scope="module")
def replies(shared):
    with gzip.open(shared / "data/summeval/llm_judge_gpt-3.5-turbo-0301.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def obvious(kind, reply):
    """Return the score at the usual place of this kind of reply, or None for an unusual reply."""
    if kind == "mcq":
        return "ABCDE".index(reply.strip()) + 1
    if kind == "stareval":
        found = re.match(rf"{NUMBER} stars?\b", reply.strip(), re.IGNORECASE)
    else:
        plain = re.sub(r"(/| out of )(5|five)\b", "", reply, flags=re.IGNORECASE)
        before = r"(?:scor\w+|rating|earn\w+|receiv\w+)\W+(?:\w+ )?(?:of |a ){0,2}"
        found = re.search(rf"(?s:.*){before}{NUMBER}", plain, re.IGNORECASE)
    return float(DIGITS.get(found[1].lower(), 0) or found[1]) if found else None


def by_ending(reply, endings):
    return next((ending for ending in endings if reply.endswith(ending)), None)


@pytest.mark.parametrize(
    ("kind", "total", "unread"),
    [
        ("rts", 4800, 2),
        pytest.param("stareval", 4800, 0, marks=pytest.mark.thorough),
        pytest.param("mcq", 5100, 0, marks=pytest.mark.thorough),
    ],
)
def test_reader_agrees_with_people_on_real_replies(replies, kind, total, unread):
    asked = [each for each in replies if each["prompt"] == kind]
    assert len(asked) == total
    missing = 0
    for each in asked:
        reply = each["resp"].strip()
        reading = read_score(reply, SCALES[kind], quality=each["dimension"])
        if by_ending(reply, NOT_READ):
            assert reading.reason == Unread.UNPARSABLE
            missing += 1
            continue
        expected = obvious(kind, reply)
        if expected is None:
            expected = READ_BY_HAND[by_ending(reply, READ_BY_HAND)]
        assert reading.value == expected, reply
    assert missing == unread


def test_half_marks_are_not_rounded(replies):
    """162 of 4,800 replies on a scale of 1 to 5 lie between two marks."""
    whole = MarkScale(1, 5)
    halves = [
        each["resp"] for each in replies if each["prompt"] == "rts" and re.search(r"[1-5]\.5\b", each["resp"])
    ]
    read = [read_score(reply, whole) for reply in halves]
    assert len(halves) == 162
    assert {reading.reason for reading in read} == {Unread.OUT_OF_RANGE}
