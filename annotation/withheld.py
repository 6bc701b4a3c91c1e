"""What a rater must not see on other pages while a summary is with them.

An article has several summaries and a gold summary may come again in a later round, so an own past rating
can hold what the open one still conceals.
"""

from annotation.models import Assignment, Rater


def withheld_articles(rater: Rater) -> frozenset[int]:
    """Ids of articles that an open assignment of this rater has not come to yet."""
    questionnaire = rater.project.questionnaire.protocol
    held = rater.assignments.filter(state=Assignment.State.OPEN).values_list("summary__article", "stage")
    return frozenset(article for article, stage in held if not questionnaire.shows_article(stage))


def withheld_gold(rater: Rater) -> frozenset[int]:
    """Ids of gold summaries in this rater's undecided round."""
    held = rater.assignments.filter(round__isnull=False, round__decided_at__isnull=True)
    return frozenset(held.values_list("summary", flat=True))
