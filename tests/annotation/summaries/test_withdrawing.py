from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.errors import AssignmentGone, DomainError, NotAllowed
from annotation.labels import human_labels
from annotation.models import Role, Summary
from annotation.people.members import reinstate_rater, remove_rater
from annotation.progress.progress import progress_of
from annotation.projects.settings import change_settings
from annotation.rating.assigning import release_expired, take_assignment
from annotation.rating.desk import desk_at
from annotation.rating.reopening import reopenable_rating
from annotation.rating.rerating import request_rerating
from annotation.summaries.find_summaries import Shown, find_summaries
from annotation.summaries.withdrawing import restore_summary, withdraw_summary
from tests.annotation.rating.rating_steps import at_stage, signed_in, text_of
from tests.factories import make_gold, make_member, make_rater, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def summary(project):
    return make_summary(project, ratings_wanted=2)


def places(summary):
    return Summary.objects.values_list("open_places", flat=True).get(pk=summary.pk)


def test_nobody_gets_a_withdrawn_summary_and_its_ratings_still_count(project, manager, summary):
    first, second = make_rater(project), make_rater(project)
    at_stage(take_assignment(first), 4)
    held = take_assignment(second)
    withdraw_summary(project, manager, summary.pk)
    with pytest.raises(AssignmentGone, match="withdrew"):
        desk_at(second, held.pk).require_open()
    with pytest.raises(AssignmentGone, match="withdrew"):
        at_stage(held, 2)
    assert reopenable_rating(first) is None
    assert human_labels(project, project.questionnaire.questions.get(key="attribution")) == {summary.pk: 1.0}
    progress = progress_of(project)
    assert (progress.ratings, progress.all.wanted, progress.all.missing) == (1, 0, 0)

    release_expired(project, timezone.now() + timedelta(days=1))
    remove_rater(first)
    reinstate_rater(first)
    change_settings(project, {"redundancy": 3})
    assert places(summary) == 0
    assert take_assignment(second) is None
    with pytest.raises(DomainError, match="withdrawn"):
        request_rerating(project, manager, summary.pk)

    restore_summary(project, manager, summary.pk)
    assert places(summary) == 2
    assert take_assignment(second) == held


def test_only_managers_withdraw_what_is_not_gold(project, manager, summary):
    with pytest.raises(NotAllowed):
        withdraw_summary(project, make_member(project, Role.RESEARCHER), summary.pk)
    with pytest.raises(DomainError, match="gold set"):
        withdraw_summary(project, manager, make_gold(project).summary_id)
    with pytest.raises(DomainError, match="nothing to restore"):
        restore_summary(project, manager, summary.pk)


def test_a_summary_is_withdrawn_and_restored_on_its_page(project, manager, summary):
    browser = signed_in(manager)
    page, withdraw, restore = (
        reverse(name, args=[project.slug, summary.pk])
        for name in ("summary", "summary_withdraw", "summary_restore")
    )
    assert withdraw in browser.get(page).content.decode()
    take_assignment(make_rater(project))
    assert "1 rater who has it open loses it" in text_of(browser.get(withdraw))
    assert browser.post(withdraw).url == page
    shown = browser.get(page).content.decode()
    assert restore in shown
    assert withdraw not in shown
    assert list(find_summaries(project, shown=Shown.WITHDRAWN)) == [summary]
    browser.post(restore)
    assert withdraw in browser.get(page).content.decode()
