"""A hidden check after its rater has finished it, if the project shows the gold answers of checks."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from annotation.errors import NotFound
from annotation.models import Rater, Rating
from annotation.rating.round_review import ReviewedSummary, gold_answers, reviewed
from annotation.rating.withheld import withheld_articles, withheld_gold


@dataclass(frozen=True)
class CheckReview:
    completed_at: datetime
    summary: ReviewedSummary


def review_check(rater: Rater, rating_id: int) -> CheckReview:
    """Return the rater's own check with the agreed answers and explanations.

    Raises NotFound for all ratings whose gold answers the rater has not been shown.
    """
    rating = (
        Rating.objects.filter(pk=rating_id, rater=rater, gold_shown_at__isnull=False)
        .select_related("summary__article", "assignment__flag")
        .prefetch_related("answers__question")
        .first()
    )
    if rating is None or rating.completed_at is None:
        raise NotFound(gettext("There are no expected answers to this rating."))
    return CheckReview(
        rating.completed_at,
        reviewed(
            rating,
            rater.project.questionnaire.protocol,
            gold_answers([rating.summary_id]).get(rating.summary_id, {}),
            article_withheld=rating.summary.article_id in withheld_articles(rater),
            withheld=rating.summary_id in withheld_gold(rater),
        ),
    )
