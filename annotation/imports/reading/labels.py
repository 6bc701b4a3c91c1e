"""Human labels beside summaries, and the names of automatic scores."""

import re
from collections.abc import Collection, Mapping

from annotation.imports.reading.fields import Fields, number_text
from annotation.imports.reading.records import AnswerRecord, RatingRecord

DIMENSION = "{dimension}"
GENERAL = "general"


def label_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern such as 'human_score_{dimension}'.

    Raises ValueError unless the pattern has {dimension} in it exactly once.
    """
    if pattern.count(DIMENSION) != 1:
        raise ValueError(f"found {pattern!r}, expected {DIMENSION} in it once, as in human_score_{DIMENSION}")
    before, after = map(re.escape, pattern.split(DIMENSION))
    return re.compile(f"{before}(?P<dimension>.+){after}")


def split_score_name(name: str, dimensions: Collection[str], nameless: str = "imported") -> tuple[str, str]:
    """Return the (evaluator, dimension) of a score's name.

    The dimension is a known one at the end or the start: ice_uniform_coherence is ice_uniform on coherence.
    A name that is itself a dimension belongs to the evaluator `nameless`; one without any to 'general'.
    """
    for dimension in sorted(dimensions, key=len, reverse=True):
        if name == dimension:
            return nameless, dimension
        for mark in "_-./: ":
            if name.endswith(f"{mark}{dimension}"):
                return name[: -len(dimension) - 1], dimension
            if name.startswith(f"{dimension}{mark}"):
                return name[len(dimension) + 1 :], dimension
    return name, GENERAL


def read_labels(
    fields: Fields, article_id: str, system: str, rater: str, labels: Mapping[str, tuple[str, object]]
) -> list[RatingRecord]:
    """Return the labels of one summary, dimension -> (field, value), as one rating, if any is not null."""
    answers = {}
    for dimension, (field, found) in labels.items():
        name = fields.check_name(field, dimension, "question", needed=True)
        if name in answers:
            fields.problem(field, dimension, f"one label of {name}")
        number = fields.number(field, found)
        if name and number is not None:
            answers[name] = AnswerRecord(number_text(number), "", fields.row.line, field)
    return [RatingRecord(article_id, system, rater, answers, group="imported")] if answers else []
