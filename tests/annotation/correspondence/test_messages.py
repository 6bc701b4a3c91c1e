from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.correspondence.messages import (
    LONGEST_MESSAGE,
    MESSAGES_A_DAY,
    active_raters,
    correspondence_with,
    mark_read,
    own_correspondence,
    read_text,
    write_to_managers,
    write_to_rater,
    write_to_raters,
)
from annotation.errors import InvalidFields, NotAllowed, NotFound
from annotation.models import AuditEntry, Rater, RaterMessage, Role
from annotation.people.members import reinstate_rater, remove_rater, suspend_rater
from annotation.projects.archiving import archive_project
from annotation.projects.closing import close_campaign
from annotation.projects.deleting import delete_project
from tests.factories import make_member, make_project, make_rater

pytestmark = pytest.mark.django_db


@pytest.fixture
def rater(project) -> Rater:
    return make_rater(project)


def write(rater: Rater, text: str = "Which system?") -> RaterMessage:
    return write_to_managers(rater.user, rater, text)


def test_both_sides_read_the_correspondence_newest_first(manager, rater):
    asked = write(rater)
    answered = write_to_rater(manager, rater, "None of them.")
    assert list(own_correspondence(rater.user, rater)) == [answered, asked]
    assert list(correspondence_with(manager, rater)) == [answered, asked]
    assert [(each.from_manager, each.author) for each in (asked, answered)] == [
        (False, rater.user),
        (True, manager),
    ]


def test_nobody_reads_or_writes_the_correspondence_of_another_rater(project, rater):
    write(rater)
    for other in (make_rater(project), make_rater(make_project())):
        with pytest.raises(NotFound):
            own_correspondence(other.user, rater)
        with pytest.raises(NotFound):
            write_to_managers(other.user, rater, "Hello")
        with pytest.raises((NotAllowed, NotFound)):
            correspondence_with(other.user, rater)
        with pytest.raises((NotAllowed, NotFound)):
            write_to_rater(other.user, rater, "Hello")


def test_only_managers_of_the_project_write_to_raters(project, rater):
    for user in (make_member(project, Role.RESEARCHER), make_member(make_project(), Role.MANAGER)):
        with pytest.raises((NotAllowed, NotFound)):
            write_to_rater(user, rater, "Hello")
        with pytest.raises((NotAllowed, NotFound)):
            write_to_raters(user, project, "Hello")
    assert not RaterMessage.objects.exists()


def test_suspended_raters_write_and_read(manager, rater):
    suspend_rater(rater)
    asked = write(rater, "Why am I suspended?")
    answered = write_to_rater(
        manager, Rater.objects.get(pk=rater.pk), "Your answers contradict the gold set."
    )
    assert list(own_correspondence(rater.user, rater)) == [answered, asked]


def test_removed_raters_neither_write_nor_read_and_their_messages_stay(manager, rater):
    asked = write(rater)
    remove_rater(rater)
    rater.refresh_from_db()
    with pytest.raises(NotFound, match="no longer a member"):
        write(rater)
    with pytest.raises(NotFound, match="no longer a member"):
        own_correspondence(rater.user, rater)
    with pytest.raises(NotAllowed, match="Reinstate"):
        write_to_rater(manager, rater, "Goodbye")
    assert list(correspondence_with(manager, rater)) == [asked]
    reinstate_rater(rater)
    assert list(own_correspondence(rater.user, rater)) == [asked]


def test_raters_without_a_login_get_no_messages(project, manager):
    imported = make_rater(project, user=None)
    with pytest.raises(NotAllowed, match="no login"):
        write_to_rater(manager, imported, "Hello")
    with pytest.raises(InvalidFields, match="no active raters"):
        write_to_raters(manager, project, "Hello")


def test_closed_campaigns_leave_writing_open(project, manager, rater):
    close_campaign(project, manager)
    write(rater)
    write_to_rater(manager, rater, "Thank you.")
    assert rater.messages.count() == 2


def test_nobody_writes_in_an_archived_project_and_deleting_it_deletes_messages(project, manager, rater):
    write(rater)
    other = write(make_rater(make_project()))
    archive_project(project, manager)
    project.refresh_from_db()
    rater.project = project
    with pytest.raises(NotAllowed, match="archived"):
        write(rater)
    with pytest.raises(NotAllowed, match="archived"):
        write_to_rater(manager, rater, "Hello")
    with pytest.raises(NotAllowed, match="archived"):
        write_to_raters(manager, project, "Hello")
    delete_project(project, manager, project.slug)
    assert list(RaterMessage.objects.all()) == [other]


def test_the_limit_of_a_day_counts_the_raters_own_messages_since_midnight(project, manager, rater):
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    rater.messages.create(from_manager=False, text="late", written_at=midnight - timedelta(seconds=1))
    write_to_rater(manager, rater, "Write as often as you like.")
    for _ in range(MESSAGES_A_DAY):
        write(rater)
    with pytest.raises(InvalidFields, match="20 messages today"):
        write(rater)
    write(make_rater(project))
    write_to_rater(manager, rater, "Tomorrow, then.")
    assert rater.messages.filter(from_manager=False).count() == MESSAGES_A_DAY + 1


@pytest.mark.parametrize("text", ["", " \n ", "x" * (LONGEST_MESSAGE + 1)])
def test_empty_and_long_texts_are_refused(manager, rater, text):
    for send in (write_to_managers, write_to_rater):
        with pytest.raises(InvalidFields):
            send(rater.user if send is write_to_managers else manager, rater, text)
    assert not rater.messages.exists()


@given(st.lists(st.text("ab é", min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_the_ends_of_lines_are_stored_alike_for_every_browser(lines):
    stored = {read_text(end.join(lines)) for end in ("\n", "\r\n", "\r")}
    assert stored == {"\n".join(lines).strip()}


def test_a_message_to_all_reaches_each_active_rater_of_the_language(project, manager):
    english, german = make_rater(project), make_rater(project, languages=["de", "en"])
    make_rater(project, languages=["de"], status=Rater.Status.SUSPENDED)
    make_rater(project, languages=["de"], user=None)
    remove_rater(make_rater(project, languages=["de"]))
    make_rater(make_project(), languages=["de"])
    qualifying = make_rater(project, languages=["de"], status=Rater.Status.TRAINING)
    assert {*active_raters(project)} == {english, german, qualifying}
    assert write_to_raters(manager, project, "New guidelines.", "de") == 2
    assert {*RaterMessage.objects.values_list("rater", flat=True)} == {german.pk, qualifying.pk}
    assert write_to_raters(manager, project, "The server is down tonight.") == 3
    assert own_correspondence(english.user, english).get().text == "The server is down tonight."


def test_the_audit_log_has_the_number_of_readers_and_no_text(project, manager, rater):
    write(rater, "SECRET")
    write_to_rater(manager, rater, "SECRET")
    write_to_raters(manager, project, "SECRET", "en")
    entry = AuditEntry.objects.get(action="raters_written_to")
    assert (entry.object, entry.details) == ("en", {"raters": 1, "language": "en"})
    assert not AuditEntry.objects.filter(details__icontains="SECRET").exists()
    assert AuditEntry.objects.filter(project=project).exclude(action="project_created").count() == 1


def test_each_side_marks_the_messages_of_the_other_as_read_once(project, manager, rater):
    asked, answered = write(rater), write_to_rater(manager, rater, "None.")
    mark_read(own_correspondence(rater.user, rater), from_manager=True)
    assert set(RaterMessage.objects.filter(read_at=None)) == {asked}
    assert RaterMessage.objects.unread_by_managers(project) == {rater.pk: 1}
    first = RaterMessage.objects.get(pk=answered.pk).read_at
    mark_read(correspondence_with(manager, rater), from_manager=False)
    mark_read([answered], from_manager=True)  # read before, as another tab still shows it
    assert RaterMessage.objects.unread_by_managers(project) == {}
    assert RaterMessage.objects.get(pk=answered.pk).read_at == first


def test_messages_outlive_the_account_of_their_author(project, manager, rater):
    other = make_member(project, Role.MANAGER)
    message = write_to_rater(other, rater, "Welcome.")
    other.delete()
    message.refresh_from_db()
    assert (message.author, message.text) == (None, "Welcome.")
