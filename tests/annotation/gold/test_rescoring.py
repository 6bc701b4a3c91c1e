import pytest
from django.test import Client
from django.urls import reverse

from annotation.gold.gold_set import AgreedAnswer, set_gold_answers
from annotation.gold.qualified_languages import qualified_languages
from annotation.gold.rescoring import rescored_round, rounds_decided_differently
from annotation.gold.rounds import next_in_round, round_decision, start_round
from annotation.models import Rater
from annotation.projects.settings import change_settings
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import submit_stage, text_of
from tests.factories import make_gold, make_member, make_project, make_rater

pytestmark = pytest.mark.django_db
KEY = "comprehensibility"


def agreed(value, why="So it is."):
    return {KEY: AgreedAnswer(value, why)}


def test_a_changed_gold_answer_rescores_the_round_visibly_and_leaves_its_decision():
    project = make_project(gold_round_size=1)
    manager = make_member(project, "manager")
    gold = make_gold(project, {KEY: "no"})
    rater = make_rater(project, status=Rater.Status.TRAINING)
    decided = start_round(rater, "en")
    submit_stage(rater, next_in_round(decided).pk, 1, {KEY: GivenAnswer("no")})
    decided.refresh_from_db()
    set_gold_answers(gold.summary, agreed("no", "Better explained."), manager)
    change_settings(project, {"gold_threshold": 1.0})
    assert rescored_round(decided).changes == []
    assert round_decision(decided).results[0].threshold == 0.8

    browser = Client()
    browser.force_login(manager)
    full = dict.fromkeys((q.key for q in project.questionnaire.protocol.questions), "yes")
    form = full | {f"why:{key}": "It is." for key in full}
    saved = browser.post(reverse("gold_answers", args=[project.slug, gold.summary_id]), form, follow=True)
    assert "would now be decided differently" in text_of(saved)
    decided.refresh_from_db()
    rescored = rescored_round(decided)
    change = next(each for each in rescored.changes if each.question.key == KEY)
    assert (change.before, change.after, change.changed_by) == ("no", "yes", manager)
    assert len(rescored.changes) == 6
    assert (decided.passed, rescored.today.passed, rescored.differs) == (True, False, True)
    assert [each.round for each in rounds_decided_differently(project)] == [decided]
    assert [(each.matched, each.asked) for each in round_decision(decided).results] == [(1, 1)]
    assert qualified_languages(rater) == ["en"]
    page = text_of(browser.get(reverse("rater_qualification", args=[project.slug, rater.pk])))
    assert "By today's answers it would be <b>not passed</b>" in page
    assert f": No to Yes, by {manager.username}" in page
    assert ": not asked to Yes" in page
    assert "passed then, would be not passed today" in text_of(
        browser.get(reverse("gold_set", args=[project.slug]))
    )
    own = Client()
    own.force_login(rater.user)
    review = text_of(own.get(reverse("round_review", args=[project.slug, 1])))
    assert "Gold round 1: passed" in review
    assert "by them the round would be not passed" in review

    set_gold_answers(gold.summary, agreed("no"), manager)
    assert rounds_decided_differently(project) == []
