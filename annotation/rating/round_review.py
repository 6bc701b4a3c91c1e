"""A decided gold round for its rater: their answers, the agreed answers and explanations."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from annotation.errors import NotAllowed, NotFound
from annotation.gold.qualification import QuestionResult
from annotation.gold.rescoring import RescoredRound, rescored_round
from annotation.gold.rounds import round_decision
from annotation.models import GoldAnswer, Rater, Rating
from annotation.protocol import Question, Questionnaire
from annotation.rating.desk import GivenAnswer
from annotation.rating.shown_item import ShownArticle
from annotation.rating.withheld import withheld_articles, withheld_gold


@dataclass(frozen=True)
class ReviewedAnswer:
    """`given` or `expected` is None if that rating ended before the question."""

    question: Question
    given: GivenAnswer | None
    expected: str | None
    explanation: str

    @property
    def agrees(self) -> bool:
        return (self.given.value if self.given else None) == self.expected


@dataclass(frozen=True)
class ReviewedSummary:
    """`article` is None unless the rating reached it; `answers` is empty while the summary is withheld."""

    language: str
    summary: str
    article: ShownArticle | None
    answers: tuple[ReviewedAnswer, ...]
    withheld: bool

    @property
    def agrees(self) -> bool:
        return all(answer.agrees for answer in self.answers)


@dataclass(frozen=True)
class RoundReview:
    number: int
    language: str
    decided_at: datetime
    passed: bool
    questions: tuple[tuple[Question, QuestionResult], ...]
    summaries: tuple[ReviewedSummary, ...]
    rescored: RescoredRound | None
    """The rescored round; None while one of its summaries is withheld."""


def review_round(rater: Rater, number: int) -> RoundReview:
    """Return the rater's own decided round.

    A summary that is also in the rater's current round is withheld until that round is decided. Raises
    NotFound if the rater had no such round, and NotAllowed before it is decided.
    """
    current = rater.rounds.filter(number=number).first()
    if current is None:
        message = gettext("You have had no round %(number)s of gold summaries in %(project)s.")
        raise NotFound(message % {"number": number, "project": rater.project.name})
    if current.decided_at is None or current.passed is None:
        message = gettext("Round %(number)s is still open. Its answers are shown once you have finished it.")
        raise NotAllowed(message % {"number": number})
    questionnaire = rater.project.questionnaire.protocol
    articles, gold = withheld_articles(rater), withheld_gold(rater)
    expected = gold_answers([assignment.summary_id for assignment in current.assignments.all()])
    ratings = (
        Rating.objects.filter(round=current)
        .select_related("summary__article", "assignment__flag")
        .prefetch_related("answers__question")
        .order_by("assignment")
    )
    return RoundReview(
        number=number,
        language=current.language,
        decided_at=current.decided_at,
        passed=current.passed,
        questions=tuple(
            (questionnaire.question(result.question), result) for result in round_decision(current).results
        ),
        summaries=tuple(
            reviewed(
                rating,
                questionnaire,
                expected.get(rating.summary_id, {}),
                article_withheld=rating.summary.article_id in articles,
                withheld=rating.summary_id in gold,
            )
            for rating in ratings
        ),
        rescored=None if gold.intersection(expected) else rescored_round(current),
    )


def gold_answers(summaries: list[int]) -> dict[int, dict[str, GoldAnswer]]:
    """Return the gold answers of these summaries by question key."""
    found: dict[int, dict[str, GoldAnswer]] = {}
    rows = GoldAnswer.objects.filter(gold__summary__in=summaries).select_related("gold", "question")
    for row in rows:
        found.setdefault(row.gold.summary_id, {})[row.question.key] = row
    return found


def reviewed(
    rating: Rating,
    questionnaire: Questionnaire,
    expected: dict[str, GoldAnswer],
    article_withheld: bool,
    withheld: bool,
) -> ReviewedSummary:
    """Return a gold summary with its rater's answers beside the `expected` ones."""
    summary = rating.summary
    if withheld:
        return ReviewedSummary(summary.article.language, summary.text, None, (), withheld=True)
    given = {
        answer.question.key: GivenAnswer(answer.value, answer.comment)
        for answer in rating.answers.all()
        if answer.is_current
    }
    article = None
    reached = max(questionnaire.question(key).stage for key in given)
    if questionnaire.shows_article(reached) and not article_withheld:
        flag = getattr(rating.assignment, "flag", None)
        article = ShownArticle.of(summary.article, flag.reason if flag else "")
    answers = tuple(
        ReviewedAnswer(
            question,
            given.get(question.key),
            expected[question.key].value if question.key in expected else None,
            expected[question.key].explanation if question.key in expected else "",
        )
        for question in questionnaire.questions
        if question.key in given or question.key in expected
    )
    return ReviewedSummary(summary.article.language, summary.text, article, answers, withheld=False)
