"""Questions that were not asked because an earlier answer had ended the rating. Pure."""

from dataclasses import replace

import numpy as np

from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, read_only
from metaeval.stats.arrays import Bools, Ints

LEFT_OUT, AS_NO = "left_out", "no"
UNASKED = {LEFT_OUT: "left out", AS_NO: "count as No"}
"""Choices for questions that were not asked -> labels."""
DEFINITION = "A yes/no question that was not asked, because an earlier answer ended the rating, counts as No."


def can_be_unasked(human: HumanRatings) -> bool:
    """Return whether an answer may end a rating before a yes/no question."""
    return any(_enders(human, each) for each in human.questions if each.question.scale.is_yes_no)


def unasked_as_no(human: HumanRatings) -> HumanRatings:
    """Return the ratings with a No to each yes/no question that was not asked since the rating had ended.

    So count the tables of SEAHORSE (Clark et al. 2023, Tables 3, 9 and 10): none of their 131 rows has more
    Yes to a later question than to the first, which ends a rating with No.
    """
    return replace(human, questions=tuple(_with_no(human, each) for each in human.questions))


def _with_no(human: HumanRatings, ratings: QuestionRatings) -> QuestionRatings:
    enders = _enders(human, ratings) if ratings.question.scale.is_yes_no else []
    if not enders:
        return ratings
    n_raters = len(human.rater_groups)
    ended = [_keys(each, n_raters)[_ends(each)] for each in enders]
    unasked = np.setdiff1d(np.concatenate(ended), _keys(ratings, n_raters))
    summaries, raters = np.divmod(unasked, max(n_raters, 1))
    no = int(np.flatnonzero(ratings.numbers == 0)[0])
    return replace(
        ratings,
        summaries=read_only(np.concatenate([ratings.summaries, summaries])),
        raters=read_only(np.concatenate([ratings.raters, raters])),
        answers=read_only(np.concatenate([ratings.answers, np.full(len(unasked), no)])),
    )


def _enders(human: HumanRatings, ratings: QuestionRatings) -> list[QuestionRatings]:
    """Return the ratings of earlier questions that may end a rating."""
    stage = ratings.question.stage
    return [each for each in human.questions if each.question.stops_rating_on and each.question.stage < stage]


def _ends(ratings: QuestionRatings) -> Bools:
    """Return (ratings,) whether each answer ended its rating."""
    ending = [value in ratings.question.stops_rating_on for value in ratings.values]
    return np.array(ending, dtype=bool)[ratings.answers]


def _keys(ratings: QuestionRatings, n_raters: int) -> Ints:
    """Return one number for each rating, (ratings,): a rater rates a summary once."""
    return ratings.summaries * n_raters + ratings.raters
