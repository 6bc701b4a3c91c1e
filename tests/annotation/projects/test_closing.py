import csv
from threading import Thread
from time import sleep

import pytest
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.errors import CampaignClosed, DomainError, NotAllowed, NotFound
from annotation.gold.rounds import next_in_round, start_round
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import Answer, Assignment, AuditEntry, ImportJob, Project, Rater, Rating, Role, Summary
from annotation.people.members import remove_rater
from annotation.projects.closing import close_campaign, reopen_campaign
from annotation.rating.assigning import skip_assignment, take_assignment
from annotation.rating.desk import desk_at
from annotation.rating.reopening import keep_rating, reopen_rating, reopenable_rating
from annotation.rating.submitting import (
    GivenAnswer,
    correct_answer,
    flag_article,
    save_draft,
    submit_at,
)
from annotation.rating.voiding import void_rating
from metaeval.snapshot.snapshot import snapshot_of
from tests.annotation.imports.importing_steps import RATINGS, load, new_counts, revision, row_counts
from tests.annotation.rating.rating_steps import (
    FIRST,
    HTMX,
    SECOND,
    address,
    at_stage,
    sheet,
    signed_in,
    text_of,
)
from tests.factories import (
    ALL_YES,
    make_gold,
    make_member,
    make_rater,
    make_summary,
    make_user,
)
from tests.import_files import jsonl

pytestmark = pytest.mark.django_db


def given(answers):
    return {key: GivenAnswer(value) for key, value in answers.items()}


def actions():
    later = AuditEntry.objects.exclude(action=Action.PROJECT_CREATED)
    return list(later.order_by("pk").values_list("action", flat=True))


def finished_rating(rater):
    make_summary(rater.project)
    return Rating.objects.get(assignment=at_stage(take_assignment(rater), 4))


def test_closing_keeps_its_date_and_is_recorded_once(project, manager):
    before = revision(project)
    close_campaign(project, manager)
    closed_at = project.closed_at
    close_campaign(Project.objects.get(), manager)
    assert Project.objects.get().closed_at == closed_at is not None
    assert (actions(), revision(project)) == ([Action.CAMPAIGN_CLOSED], before + 1)
    reopen_campaign(project, manager)
    reopen_campaign(project, manager)
    assert (project.closed_at, Project.objects.get().closed_at) == (None, None)
    assert (actions(), revision(project)) == (
        [Action.CAMPAIGN_CLOSED, Action.CAMPAIGN_REOPENED],
        before + 2,
    )
    close_campaign(project, manager)
    assert project.closed_at > closed_at


@pytest.mark.parametrize("act", [close_campaign, reopen_campaign])
def test_only_a_manager_closes_and_reopens(project, rater, act):
    for user, refusal in (
        (make_member(project, Role.RESEARCHER), NotAllowed),
        (rater.user, NotAllowed),
        (make_user(), NotFound),
    ):
        with pytest.raises(refusal):
            act(project, user)
    assert (actions(), Project.objects.get().closed_at) == ([], None)


def test_an_import_in_progress_must_end_first(project, manager, rater):
    make_summary(project)
    held = take_assignment(rater)
    job = ImportJob.objects.create(project=project, format="examples", file_name="a.jsonl")
    with pytest.raises(DomainError, match="import is in progress"):
        close_campaign(project, manager)
    held.refresh_from_db()
    assert (Project.objects.get().closed_at, held.state) == (None, Assignment.State.OPEN)
    ImportJob.objects.filter(pk=job.pk).update(finished_at=timezone.now())
    close_campaign(project, manager)
    assert Project.objects.get().closed_at is not None


def test_open_summaries_return_to_the_pool_and_gold_rounds_wait(project, manager, rater):
    newcomer = make_rater(project, status=Rater.Status.TRAINING)
    make_gold(project)
    make_summary(project)
    held, gold = take_assignment(rater), next_in_round(start_round(newcomer, "en"))
    close_campaign(project, manager)
    held.refresh_from_db()
    gold.refresh_from_db()
    assert (held.state, gold.state) == (Assignment.State.RELEASED, Assignment.State.OPEN)
    assert Summary.objects.get(pk=held.summary_id).open_places == 1
    for step in (
        lambda: start_round(newcomer, "en"),
        lambda: at_stage(gold, 2),
        lambda: start_round(make_rater(project, status=Rater.Status.TRAINING), "en"),
    ):
        with pytest.raises(CampaignClosed):
            step()
    reopen_campaign(project, manager)
    assert take_assignment(rater) == held
    assert at_stage(gold, 2).stage == 2


def test_a_reopened_rating_counts_as_it_was(project, manager, rater):
    rating = finished_rating(rater)
    assignment = reopen_rating(rater, rating.pk)
    close_campaign(project, manager)
    assignment.refresh_from_db()
    assert (assignment.state, assignment.draft) == (Assignment.State.DONE, {})


def test_raters_neither_rate_nor_change_ratings_until_it_is_reopened(project, manager, rater):
    rating = finished_rating(rater)
    make_summary(project)
    held = at_stage(take_assignment(rater), 2)
    desk = desk_at(rater, held.pk)
    close_campaign(project, manager)
    rows = (row_counts(project), list(Answer.objects.order_by("pk").values_list("value", "is_current")))
    assert reopenable_rating(Rater.objects.get(pk=rater.pk)) is None
    for step in (
        lambda: take_assignment(rater),
        lambda: at_stage(held, 3),
        lambda: submit_at(desk, 2, given(SECOND)),  # the desk was read before
        lambda: save_draft(rater, held.pk, 2, given({"grammar": "no"})),
        lambda: flag_article(rater, held.pk, "Not an article."),
        lambda: skip_assignment(rater, held.pk, "hard"),
        lambda: correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes")),
        lambda: reopen_rating(rater, rating.pk),
        lambda: keep_rating(rater, rating.assignment_id),
    ):
        with pytest.raises(CampaignClosed, match="final"):
            step()
    after = (row_counts(project), list(Answer.objects.order_by("pk").values_list("value", "is_current")))
    assert after == rows

    reopen_campaign(project, manager)
    assert take_assignment(rater).stage == 2
    assert at_stage(held, 4).state == Assignment.State.DONE
    assert correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes")).revision == 2


def test_a_lease_taken_while_the_campaign_closes_cannot_be_rated(project, manager, rater):
    make_summary(project)
    held = take_assignment(rater)
    desk = desk_at(rater, held.pk)
    close_campaign(project, manager)
    Assignment.objects.filter(pk=held.pk).update(state=Assignment.State.OPEN)
    with pytest.raises(CampaignClosed):
        submit_at(desk, 1, given(FIRST))
    assert not Rating.objects.exists()


def test_a_revision_says_whether_the_campaign_is_closed(project, manager):
    with transaction.atomic():
        assert project.bump_revision() is False
    close_campaign(project, manager)
    stale = Project.objects.defer("closed_at").get()
    assert stale.bump_revision() is True


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets only one transaction write at a time")
@pytest.mark.django_db(transaction=True)
def test_a_correction_that_began_before_the_campaign_closed_is_not_stored(project, manager, rater):
    rating = finished_rating(rater)
    refused = []

    def correct():
        try:
            correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes"))
        except CampaignClosed as refusal:
            refused.append(refusal)
        connection.close()

    late = Thread(target=correct)
    with transaction.atomic():
        close_campaign(project, manager)
        late.start()
        wait_until_it_waits()
    late.join(120)
    assert len(refused) == 1
    assert rating.answers.get(question__key="grammar").value == "no"


def wait_until_it_waits():
    """Return once another connection waits for a lock of this one."""
    for _ in range(1200):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
        sleep(0.1)
    raise AssertionError("nothing waits")


def test_managers_still_decide_about_quality(project, manager, rater):
    rating = finished_rating(rater)
    close_campaign(project, manager)
    void_rating(project, manager, rating.pk, "Rated the wrong text.")
    remove_rater(rater)
    rating.refresh_from_db()
    rater.refresh_from_db()
    assert (rating.voided_at is not None, rater.status) == (True, Rater.Status.REMOVED)


@pytest.mark.django_db(transaction=True)
def test_the_next_snapshot_knows_the_date(project, manager):
    assert snapshot_of(project).closed_at is None
    assert snapshot_of(project) is snapshot_of(project)
    close_campaign(project, manager)
    closed = snapshot_of(project)
    assert (closed.closed_at, closed.is_live) == (project.closed_at, False)
    reopen_campaign(project, manager)
    assert (snapshot_of(project).closed_at, snapshot_of(project).is_live) == (None, True)


def ratings_file(tmp_path, *rows):
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(RATINGS.split(","))
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_file_with_new_ratings_is_refused_whole(project, manager, tmp_path, dry_run):
    one, two = (
        [(f"a{n}", "s", "ada", key, value, f"Summary {n}.", "en") for key, value in ALL_YES.items()]
        for n in (1, 2)
    )
    load(project, "ratings", ratings_file(tmp_path, *one))
    close_campaign(project, manager)
    before = (row_counts(project), revision(project))
    report = load(project, "ratings", ratings_file(tmp_path, *one, *two), dry_run=dry_run)
    assert "campaign is closed" in report.refused
    assert (row_counts(project), revision(project)) == before
    assert not load(project, "ratings", ratings_file(tmp_path, *one)).refused, "it has nothing new"
    reopen_campaign(project, manager)
    assert load(project, "ratings", ratings_file(tmp_path, *one, *two)).count("ratings").new == 1


def test_a_campaign_closed_while_a_file_is_checked_gets_no_ratings(project, manager, tmp_path):
    rows = [("a1", "s", "ada", key, value, "Summary.", "en") for key, value in ALL_YES.items()]
    stale = Project.objects.get()
    close_campaign(project, manager)
    before = row_counts(project)
    with pytest.raises(DomainError, match="campaign is closed"):
        import_file(stale, open_import("ratings", ratings_file(tmp_path, *rows)))
    assert row_counts(project) == before


def test_summaries_can_still_be_imported(project, manager, rater, tmp_path):
    close_campaign(project, manager)
    row = {"id": "x", "article_id": "a", "summary": "S.", "article": "A.", "system": "s", "language": "en"}
    report = load(project, "examples", jsonl(tmp_path / "new.jsonl", row))
    assert new_counts(report) == {"articles": 1, "systems": 1, "summaries": 1}
    with pytest.raises(CampaignClosed):
        take_assignment(rater)


def test_a_campaign_is_closed_and_reopened_in_its_settings(project, manager, rater):
    browser = signed_in(manager)
    close, reopen, settings, progress, home = (
        reverse(name, args=[project.slug] if name != "home" else [])
        for name in ("campaign_close", "campaign_reopen", "project_settings", "progress", "home")
    )
    make_summary(project)
    take_assignment(rater)
    assert close in browser.get(settings).content.decode()
    assert "and 1 open summary returns to the pool" in text_of(browser.get(close))
    assert "closed since" not in text_of(browser.get(progress))
    assert Project.objects.get().closed_at is None
    assert browser.post(close).url == settings
    page = browser.get(settings)
    assert "Its ratings are final" in text_of(page)
    assert (reopen in page.content.decode(), close in page.content.decode()) == (True, False)
    assert "open summary" not in text_of(browser.get(close))
    told = browser.get(progress)
    assert "This campaign has been closed since" in text_of(told)
    assert settings in told.content.decode()
    assert "Expected end" not in text_of(told)
    seen = text_of(signed_in(make_member(project, Role.RESEARCHER)).get(progress))
    assert "This campaign has been closed since" in seen
    assert "closed" in text_of(browser.get(home))
    assert browser.get(reopen).status_code == 405
    assert browser.post(reopen).url == settings
    assert close in browser.get(settings).content.decode()


def test_raters_are_told_and_read_their_ratings(project, manager, rater):
    rating = finished_rating(rater)
    make_summary(project)
    held = take_assignment(rater)
    browser = signed_in(rater.user)
    pages = [
        reverse("history", args=[project.slug]),
        reverse("history_rating", args=[project.slug, rating.pk]),
    ]
    assert all("Re-open rating" in text_of(browser.get(page)) for page in pages)
    close_campaign(project, manager)
    for answer in (
        browser.get(reverse("rate", args=[project.slug])),
        browser.get(address(held)),
        browser.post(address(held), sheet(1, FIRST)),
        browser.post(reverse("round_start", args=[project.slug])),
        browser.post(reverse("history_reopen", args=[project.slug, rating.pk])),
    ):
        assert (answer.status_code, "This campaign is closed" in text_of(answer)) == (403, True)
        assert pages[0] in answer.content.decode()
    for answer in (
        browser.post(address(held), sheet(1, FIRST), headers=HTMX),
        browser.post(address(held, "rate_draft"), sheet(1, FIRST)),
        browser.post(
            reverse("history_correct", args=[project.slug, rating.pk, "grammar"]), {"answer-grammar": "yes"}
        ),
    ):
        assert (answer.status_code, "This campaign is closed" in text_of(answer)) == (403, True)
    shown = [browser.get(page) for page in pages]
    assert [each.status_code for each in shown] == [200, 200]
    assert not any("Re-open rating" in text_of(each) for each in shown)
    assert "You cannot correct finished ratings because the campaign is closed." in text_of(shown[1])
    home = text_of(browser.get(reverse("home")))
    assert "This campaign is closed" in home
    assert reverse("rate", args=[project.slug]) not in browser.get(reverse("home")).content.decode()
    reopen_campaign(project, manager)
    assert browser.get(address(take_assignment(rater))).status_code == 200
