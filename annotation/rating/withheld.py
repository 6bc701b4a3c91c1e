"""Texts and answers that raters must not see on other pages while they rate a summary.

Articles have several summaries and gold summaries may return in later rounds, so a past rating can hold what
the open one still conceals.
"""

from annotation.models import Rater


def withheld_articles(rater: Rater) -> frozenset[int]:
    """Return ids of articles that this rater's open assignments do not show yet."""
    questionnaire = rater.project.questionnaire.protocol
    held = rater.assignments.held().values_list("summary__article", "stage")
    return frozenset(article for article, stage in held if not questionnaire.shows_article(stage))


def withheld_gold(rater: Rater) -> frozenset[int]:
    """Return ids of gold summaries in this rater's undecided round."""
    held = rater.assignments.filter(round__isnull=False, round__decided_at__isnull=True)
    return frozenset(held.values_list("summary", flat=True))
