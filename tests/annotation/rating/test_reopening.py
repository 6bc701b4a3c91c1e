import csv
from datetime import timedelta

import hypothesis
import pytest
from django.urls import reverse
from django.utils import timezone
from hypothesis import strategies as st

from annotation.errors import AssignmentGone, InvalidAnswers, NotAllowed, StageClosed
from annotation.exports.formats.ratings import RatingsExporter
from annotation.gold.qualified_languages import withdraw_qualification
from annotation.gold.rounds import next_in_round, start_round
from annotation.labels import human_labels
from annotation.models import Answer, Assignment, Rater, Rating, Role, Summary
from annotation.people.members import reinstate_rater, remove_rater, set_rater_languages, suspend_rater
from annotation.projects.archiving import archive_project, restore_project
from annotation.rating.assigning import release_expired, skip_assignment, take_assignment
from annotation.rating.history import finished_ratings, open_rating, past_rating
from annotation.rating.reopening import keep_rating, reopen_rating, reopenable_rating
from annotation.rating.submitting import GivenAnswer, correct_answer
from annotation.rating.voiding import restore_rating, void_rating
from annotation.summaries.withdrawing import restore_summary, withdraw_summary
from metaeval.snapshot.snapshot import snapshot_of
from tests.annotation.imports.importing_steps import load
from tests.annotation.rating.rating_steps import (
    FIRST,
    HTMX,
    SECOND,
    THIRD,
    address,
    at_stage,
    sheet,
    signed_in,
    submit_stage,
    text_of,
)
from tests.annotation.rating.test_concealment import ARTICLE, NEVER, leaks, production
from tests.factories import (
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
)

pytestmark = pytest.mark.django_db


def given(answers):
    return {key: GivenAnswer(value) for key, value in answers.items()}


def current(rating):
    return dict(rating.answers.current().values_list("question__key", "value"))


def ended_by_gate(assignment) -> Rating:
    submit_stage(assignment.rater, assignment.pk, 1, given({"comprehensibility": "no"}))
    return Rating.objects.get(assignment=assignment)


def test_a_wrong_key_at_the_gate_is_undone(rater, assignment):
    rating = ended_by_gate(assignment)
    comprehensible = rater.project.questionnaire.questions.get(key="comprehensibility")
    assert human_labels(rater.project, comprehensible) == {rating.summary_id: 0.0}
    assert snapshot_of(rater.project).human.questions[0].answers.size == 1

    reopened = reopen_rating(rater, rating.pk)
    assert reopen_rating(rater, rating.pk) == reopened, "a second click changes nothing"
    for stage, answers in ((1, FIRST), (2, SECOND), (3, THIRD)):
        assert human_labels(rater.project, comprehensible) == {rating.summary_id: 0.0}
        assert snapshot_of(rater.project).human.questions[0].answers.size == 1
        assert take_assignment(make_rater(rater.project)) is None, "the rating keeps its place"
        for _ in range(2):
            submit_stage(rater, reopened.pk, stage, given(answers))
    rating.refresh_from_db()
    assert current(rating) == FIRST | SECOND | THIRD
    gate = rating.answers.filter(question__key="comprehensibility").order_by("revision")
    assert [(each.value, each.is_current, each.after_reveal) for each in gate] == [
        ("no", False, False),
        ("yes", True, False),
    ]
    assert human_labels(rater.project, comprehensible) == {rating.summary_id: 1.0}
    assert Summary.objects.get().open_places == 0


def test_changes_after_the_article_was_shown_say_so_and_answers_no_longer_asked_do_not_count(
    rater, assignment
):
    rating = Rating.objects.get(assignment=at_stage(assignment, 4))
    reopened = reopen_rating(rater, rating.pk)
    assert reopened.draft == {"comprehensibility": {"value": "yes", "comment": ""}}
    submit_stage(rater, reopened.pk, 1, given(FIRST))
    submit_stage(rater, reopened.pk, 2, given(SECOND | {"grammar": "yes"}))
    reopened.refresh_from_db()
    assert set(reopened.draft) == set(THIRD)
    submit_stage(rater, reopened.pk, 3, given(THIRD))
    changed = Answer.objects.get(revision=2)
    assert (changed.question.key, changed.value, changed.after_reveal) == ("grammar", "yes", True)

    submit_stage(rater, reopen_rating(rater, rating.pk).pk, 1, given({"comprehensibility": "no"}))
    assert current(rating) == {"comprehensibility": "no"}
    assert rating.answers.count() == 8, "all earlier answers are kept"
    assert [past.question.key for past in open_rating(rater, rating.pk).rating.answers] == [
        "comprehensibility"
    ]


def test_an_export_of_re_opened_ratings_imports_again(rater, assignment, tmp_path):
    rating = Rating.objects.get(assignment=at_stage(assignment, 4))
    submit_stage(rater, reopen_rating(rater, rating.pk).pk, 1, given({"comprehensibility": "no"}))
    file = tmp_path / "ratings.csv"
    exporter = RatingsExporter(rater.project, RatingsExporter.Options(articles=True))
    file.write_bytes(b"".join(exporter.written()))
    elsewhere = make_project()
    report = load(elsewhere, "ratings", file)
    assert (report.problems, report.refused) == ([], "")
    copy = Rating.objects.get(summary__project=elsewhere)
    columns = ("question__key", "value", "revision", "is_current", "after_reveal")
    assert sorted(copy.answers.values_list(*columns)) == sorted(rating.answers.values_list(*columns))


def test_only_the_latest_rating_is_re_opened_and_only_one_at_a_time(rater, assignment):
    first = ended_by_gate(assignment)
    make_summary(rater.project)
    second = ended_by_gate(take_assignment(rater))
    with pytest.raises(NotAllowed, match="finished last"):
        reopen_rating(rater, first.pk)
    reopen_rating(rater, second.pk)
    assert reopenable_rating(rater) is None
    with pytest.raises(NotAllowed, match="Finish it first"):
        reopen_rating(rater, first.pk)
    with pytest.raises(AssignmentGone):
        reopen_rating(make_rater(rater.project), second.pk)


def exported_rows(project):
    written = b"".join(RatingsExporter(project, RatingsExporter.Options()).written()).decode()
    return list(csv.DictReader(written.splitlines()))


class Reopened:
    """A finished rating that its rater has re-opened, and all that may end that."""

    def __init__(self, finished: list[dict[str, str]], again: list[dict[str, str]]) -> None:
        self.project = make_project()
        self.rater = make_rater(self.project)
        self.manager = make_member(self.project, Role.MANAGER)
        make_summary(self.project)
        assignment = take_assignment(self.rater)
        for stage, answers in enumerate(finished, 1):
            submit_stage(self.rater, assignment.pk, stage, given(answers))
        self.rating = Rating.objects.get(assignment=assignment)
        self.before = self.everywhere()
        reopen_rating(self.rater, self.rating.pk)
        self.assignment = assignment
        for stage, answers in enumerate(again, 1):
            submit_stage(self.rater, assignment.pk, stage, given(answers))

    def everywhere(self):
        """Return the rating as its rater, the results and the exports have it, and the places left."""
        self.rater.refresh_from_db()
        return (
            [past_rating(each).sheet for each in finished_ratings(self.rater)],
            Rating.objects.countable().filter(pk=self.rating.pk).count(),
            snapshot_of(self.project).human.questions[0].answers.size,
            [row | {"rater_status": ""} for row in exported_rows(self.project)],
            Summary.objects.get(project=self.project).open_places,
            take_assignment(make_rater(self.project)),
        )

    def lease_ends(self):
        assert release_expired(self.project, timezone.now() + timedelta(days=1)) == 1

    def is_kept(self):
        keep_rating(self.rater, self.assignment.pk)

    def suspension(self):
        suspend_rater(self.rater)

    def suspension_and_reinstatement(self):
        suspend_rater(self.rater)
        reinstate_rater(self.rater)

    def removal_and_reinstatement(self):
        remove_rater(self.rater)
        assert not Rating.objects.countable().filter(pk=self.rating.pk).exists()
        reinstate_rater(self.rater)

    def withdrawal(self):
        withdraw_summary(self.project, self.manager, self.rating.summary_id)

    def withdrawal_and_restoring(self):
        self.withdrawal()
        restore_summary(self.project, self.manager, self.rating.summary_id)

    def voiding_and_restoring(self):
        void_rating(self.project, self.manager, self.rating.pk, "Too quick.")
        restore_rating(self.project, self.manager, self.rating.pk)

    def archiving_and_restoring(self):
        archive_project(self.project, self.manager)
        restore_project(self.project, self.manager)

    def other_languages(self):
        set_rater_languages(self.rater, ["de"])

    def qualification_withdrawn(self):
        withdraw_qualification(self.rater, self.manager, "en")


ENDS = [name for name, end in vars(Reopened).items() if not name.startswith("_") and name != "everywhere"]
FULL = [FIRST, SECOND, THIRD]
GATED = [{"comprehensibility": "no"}]
OTHERWISE = [FIRST, {"repetition": "no", "grammar": "unsure"}, dict.fromkeys(THIRD, "unsure")]


@pytest.mark.parametrize("end", ENDS)
@hypothesis.given(finished=st.sampled_from([FULL, GATED]), resubmitted=st.integers(0, 2))
def test_a_re_opened_rating_is_never_less_than_it_was_however_that_ends(end, finished, resubmitted):
    reopened = Reopened(finished, OTHERWISE[:resubmitted])
    getattr(reopened, end)()
    assert reopened.everywhere() == reopened.before
    assert Assignment.objects.get(pk=reopened.assignment.pk).state == Assignment.State.DONE
    with pytest.raises((StageClosed, NotAllowed)):
        submit_stage(reopened.rater, reopened.assignment.pk, 1, given({"comprehensibility": "unsure"}))


def test_a_re_opened_rating_that_was_kept_starts_anew_with_the_answers_that_count(rater, assignment):
    rating = Rating.objects.get(assignment=at_stage(assignment, 4))
    submit_stage(rater, reopen_rating(rater, rating.pk).pk, 1, given({"comprehensibility": "unsure"}))
    keep_rating(rater, assignment.pk)
    assert keep_rating(rater, assignment.pk).state == Assignment.State.DONE
    again = reopen_rating(rater, rating.pk)
    assert (again.stage, again.draft) == (1, {"comprehensibility": {"value": "yes", "comment": ""}})
    with pytest.raises(AssignmentGone):
        keep_rating(make_rater(rater.project), assignment.pk)
    with pytest.raises(NotAllowed, match="finish it instead"):
        correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes"))
    with pytest.raises(NotAllowed, match="Keep your rating"):
        skip_assignment(rater, assignment.pk, "hard")


def test_an_unfinished_summary_cannot_be_kept(rater, assignment):
    with pytest.raises(AssignmentGone):
        keep_rating(rater, assignment.pk)


def test_a_project_without_corrections_and_suspended_raters_re_open_nothing(rater, assignment):
    rating = ended_by_gate(assignment)
    rater.project.allow_corrections = False
    rater.project.save()
    assert reopenable_rating(rater) is None
    with pytest.raises(NotAllowed, match="cannot be changed"):
        reopen_rating(rater, rating.pk)
    rater.project.allow_corrections = True
    rater.project.save()
    suspend_rater(rater)
    with pytest.raises(NotAllowed, match="suspended"):
        reopen_rating(rater, rating.pk)


def test_a_gold_rating_is_re_opened_until_its_round_is_decided():
    project = make_project(gold_round_size=2)
    rater = make_rater(project, status=Rater.Status.TRAINING)
    make_gold(project)
    make_gold(project)
    current_round = start_round(rater, "en")
    first = ended_by_gate(next_in_round(current_round))
    reopened = reopen_rating(rater, first.pk)
    assert next_in_round(current_round) == reopened
    ended_by_gate(reopened)
    second = ended_by_gate(next_in_round(current_round))
    assert reopenable_rating(rater) is None
    with pytest.raises(NotAllowed, match="decided"):
        reopen_rating(rater, second.pk)


def test_re_opening_conceals_the_article_again_also_where_another_summary_of_it_is_open():
    project = make_project(gold_round_size=1, gold_retry_size=1)
    article = make_article(
        project, external_id=NEVER[0], title=ARTICLE[1], text=f"{ARTICLE[0]} stands here.", dataset=NEVER[2]
    )
    assignment = production(project, article)
    rater = assignment.rater
    rating = Rating.objects.filter(rater=rater, completed_at__isnull=False).get()
    at_stage(assignment, 3)
    reopened = reopen_rating(rater, rating.pk)
    assert Assignment.objects.get(pk=assignment.pk).state == Assignment.State.RELEASED
    pages = r"/rate/(?!\d+/(?:skip|keep))|/history/"  # after these, the other summary may be shown again
    assert leaks(reopened, ARTICLE + NEVER, only=pages) == []


def test_undo_on_the_rating_page_keeps_the_answers_of_the_open_summary(rater, assignment, browser):
    rating = ended_by_gate(assignment)
    make_summary(rater.project, system=make_system(rater.project, "other"))
    open_one = take_assignment(rater)
    page = browser.get(address(open_one))
    undo = reverse("rate_undo", args=[rater.project.slug, open_one.pk, rating.pk])
    assert undo in page.content.decode()
    response = browser.post(undo, sheet(1, FIRST), headers=HTMX)
    assert "THE SUMMARY." in text_of(response)
    assert "open again" in text_of(response)
    assert response.context["item"].asked[0].answer.value == "no"
    open_one.refresh_from_db()
    assert open_one.draft["comprehensibility"]["value"] == "yes"
    assert undo not in browser.get(address(assignment)).content.decode()


def test_the_latest_rating_is_re_opened_from_history(rater, assignment, browser):
    rating = ended_by_gate(assignment)
    reopen = reverse("history_reopen", args=[rater.project.slug, rating.pk])
    for name, ids in (("history", []), ("history_rating", [rating.pk])):
        assert reopen in browser.get(reverse(name, args=[rater.project.slug, *ids])).content.decode()
    assert browser.post(reopen).url == address(assignment)
    assert "Re-open" not in text_of(browser.get(reverse("history", args=[rater.project.slug])))
    assert signed_in(make_rater(rater.project).user).post(reopen).status_code == 409


def test_a_re_opened_rating_is_kept_on_the_rating_page_and_shown_as_it_counts(rater, assignment, browser):
    rating = Rating.objects.get(assignment=at_stage(assignment, 4))
    reopen_rating(rater, rating.pk)
    page = browser.get(address(assignment))
    keep = address(assignment, "rate_keep")
    assert keep in page.content.decode()
    assert address(assignment, "rate_skip") not in page.content.decode()
    past = text_of(browser.get(reverse("history_rating", args=[rater.project.slug, rating.pk])))
    assert "You have re-opened this rating." in past
    assert "Correct this answer" not in past
    assert "THE ARTICLE." not in past
    assert "re-opened" in text_of(browser.get(reverse("history", args=[rater.project.slug])))
    kept = browser.post(keep, sheet(1, FIRST), follow=True)
    assert "Your rating stays as it was." in text_of(kept)
    assert keep not in browser.get(address(assignment)).content.decode()


def test_a_kept_gold_rating_ends_its_round():
    project = make_project(gold_round_size=2)
    rater = make_rater(project, status=Rater.Status.TRAINING)
    make_gold(project)
    make_gold(project)
    current_round = start_round(rater, "en")
    first = ended_by_gate(next_in_round(current_round))
    other = next_in_round(current_round)
    reopened = reopen_rating(rater, first.pk)
    ended_by_gate(other)
    page = signed_in(rater.user).post(address(reopened, "rate_keep"), sheet(1, FIRST))
    current_round.refresh_from_db()
    assert current_round.decided_at is not None
    assert page.url == reverse("round_review", args=[project.slug, current_round.number])


def test_a_re_opened_rating_is_still_checked(rater, assignment):
    rating = ended_by_gate(assignment)
    reopen_rating(rater, rating.pk)
    with pytest.raises(InvalidAnswers):
        submit_stage(rater, assignment.pk, 1, given({"comprehensibility": "maybe"}))
