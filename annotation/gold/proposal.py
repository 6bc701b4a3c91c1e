"""Answers proposed for a summary's gold answers, from decisions and from its raters."""

from collections import Counter

from django.contrib.auth.models import User

from annotation import protocol
from annotation.adjudication.decisions import decisions_on
from annotation.gold.gold_set import AgreedAnswer
from annotation.models import Answer, Rating, Summary
from annotation.permissions import Permission, permissions_of


def proposed_gold_answers(summary: Summary, user: User) -> dict[str, AgreedAnswer]:
    """Return the decided answers with their notes, or else those that most raters gave, by question key.

    A tie proposes nothing, and neither does a question after an answer that ends the rating. A user who may
    not see raters' answers gets no proposals.
    """
    if Permission.SEE_TEXTS_AND_RATINGS not in permissions_of(user, summary.project):
        return {}
    questionnaire = summary.project.questionnaire.protocol
    decided = {each.question.key: each for each in decisions_on(summary).current()}
    given: dict[str, Counter[str]] = {}
    counted = Rating.objects.countable().filter(summary=summary)
    answers = Answer.objects.current().filter(rating__in=counted)
    for key, value in answers.values_list("question__key", "value"):
        given.setdefault(key, Counter())[value] += 1
    proposed = {}
    for question in questionnaire.questions:
        if question.key in decided:
            decision = decided[question.key]
            proposed[question.key] = AgreedAnswer(decision.value, decision.note)
        elif value := _most_frequent(given.get(question.key, Counter())):
            proposed[question.key] = AgreedAnswer(value, "")
    stop = protocol.stopped_by(questionnaire, {key: each.value for key, each in proposed.items()})
    return {
        question.key: proposed[question.key]
        for question in questionnaire.questions
        if question.key in proposed and (stop is None or question.stage <= stop.stage)
    }


def _most_frequent(answers: Counter[str]) -> str:
    """Return the answer given most often; empty for none and for a tie."""
    first = answers.most_common(2)
    if not first or (len(first) == 2 and first[0][1] == first[1][1]):
        return ""
    return first[0][0]
