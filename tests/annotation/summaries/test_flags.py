import pytest
from django.urls import reverse

from annotation.errors import DomainError, InvalidFields, NotAllowed, NotFound
from annotation.models import ArticleFlag, Role
from annotation.progress.progress import progress_of, progress_version
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import flag_article
from annotation.summaries.find_summaries import Shown, find_summaries
from annotation.summaries.flags import flags_in, reopen_flag, resolve_flag
from tests.annotation.rating.rating_steps import at_stage, signed_in, text_of
from tests.factories import make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


def make_flag(project, reason) -> ArticleFlag:
    make_summary(project)
    rater = make_rater(project)
    return flag_article(rater, at_stage(take_assignment(rater), 3).pk, reason)


def test_resolved_flags_go_to_the_end_with_note_and_name(project, manager):
    first, second = (make_flag(project, reason) for reason in ("Cut off.", "In French."))
    before = progress_version(project)
    resolved = resolve_flag(project, manager, second.pk, " Imported again. ")
    assert (resolved.resolved_by, resolved.note) == (manager, "Imported again.")
    assert [flag.pk for flag in flags_in(project)] == [first.pk, second.pk]
    assert progress_of(project).flags == [first]
    assert progress_version(project) != before
    flagged = find_summaries(project, shown=Shown.FLAGGED)
    assert [summary.pk for summary in flagged] == [first.assignment.summary_id]

    reopened = reopen_flag(project, manager, second.pk)
    assert (reopened.resolved_at, reopened.note) == (None, "Imported again.")
    assert progress_of(project).flag_count == 2
    with pytest.raises(DomainError, match="already open"):
        reopen_flag(project, manager, second.pk)


def test_another_reason_opens_the_flag_again_and_the_same_one_does_not(project, manager):
    flag = make_flag(project, "Cut off.")
    resolve_flag(project, manager, flag.pk, "Imported again.")
    rater = flag.assignment.rater
    assert flag_article(rater, flag.assignment_id, "Cut off.").resolved_at is not None
    assert flag_article(rater, flag.assignment_id, "Still cut off.").resolved_at is None


def test_only_managers_resolve_flags_of_their_project_and_say_what_was_done(project, manager):
    flag = make_flag(project, "Cut off.")
    with pytest.raises(NotAllowed):
        resolve_flag(project, make_member(project, Role.RESEARCHER), flag.pk, "Done.")
    with pytest.raises(NotAllowed):
        reopen_flag(project, flag.assignment.rater.user, flag.pk)
    for note in ("  ", "x" * 2001):
        with pytest.raises(InvalidFields):
            resolve_flag(project, manager, flag.pk, note)
    other = make_project()
    with pytest.raises(NotFound):
        resolve_flag(other, make_member(other, Role.MANAGER), flag.pk, "Done.")


def test_flags_are_resolved_and_opened_on_their_page(project, manager):
    browser, page = signed_in(manager), reverse("flags", args=[project.slug])
    assert "No flags yet" in text_of(browser.get(page))
    flag = make_flag(project, "Cut off.")
    resolve, reopen = (
        reverse(name, args=[project.slug, flag.pk]) for name in ("flag_resolve", "flag_reopen")
    )
    assert "1 flag open, of 1" in text_of(browser.get(page))
    refused = text_of(browser.post(resolve, {"note": " ", "page": "1"}, follow=True))
    assert "Flag not resolved. Say what was done" in refused
    assert browser.post(resolve, {"note": "Imported again.", "page": "1"}).url == f"{page}?page=1"
    assert f"{manager} : Imported again." in text_of(browser.get(page)).replace("</span>", " ")
    summary = reverse("summary", args=[project.slug, flag.assignment.summary_id])
    assert "Imported again." in text_of(browser.get(summary))
    browser.post(reopen, {"page": "1"})
    assert "1 flag open" in text_of(browser.get(page))
    researcher = signed_in(make_member(project, Role.RESEARCHER))
    seen = researcher.get(page).content.decode()
    assert "Cut off." in seen
    assert resolve not in seen
