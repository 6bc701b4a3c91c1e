import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.errors import AssignmentGone, DomainError, NotAllowed
from annotation.gold.qualified_languages import rater_languages
from annotation.models import Assignment, Rater, Rating, Summary
from annotation.open_places import ARTICLE_GAP, recount_places, wanted_ratings
from annotation.people.members import reinstate_rater, remove_rater
from annotation.rating.assigning import release_expired, skip_assignment, take_assignment
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import make_article, make_gold, make_project, make_rater, make_summary, make_system

NOT_READABLE = {"comprehensibility": GivenAnswer("no")}


def rate_next(rater) -> int | None:
    """Rate the rater's next summary with one answer. Return its id, or None when nothing is left."""
    assignment = take_assignment(rater)
    if assignment is None:
        return None
    submit_stage(rater, assignment.pk, 1, NOT_READABLE)
    return assignment.summary_id


def rated_articles(rater) -> list[str]:
    """Let the rater rate until nothing is left, and return the articles in that order."""
    ids = iter(lambda: rate_next(rater), None)
    return [Summary.objects.get(pk=pk).article.external_id for pk in ids]


def make_summaries(project, articles: int, of_each: int) -> None:
    """Create the summaries in an order of assignment in which those of an article follow one another."""
    for number in range(articles):
        article = make_article(project, external_id=f"a{number}")
        for system in range(of_each):
            key = of_each * number + system
            make_summary(project, article=article, system=make_system(project, f"s{system}"), shuffle_key=key)


@pytest.mark.django_db
def test_an_assignment_comes_with_the_summary_as_stored():
    make_summary(make_project())  # ids of projects, articles and systems differ
    project = make_project()
    make_system(project, "b")
    summary = make_summary(project, article=make_article(project), system=make_system(project, "a"))
    given = take_assignment(make_rater(project)).summary
    assert (given, given.text) == (summary, summary.text)
    assert (given.project, given.article, given.system) == (project, summary.article, summary.system)


@pytest.mark.django_db
class TestSpreadingArticles:
    @given(articles=st.integers(1, 14), of_each=st.integers(1, 3))
    @settings(max_examples=10)
    def test_an_article_returns_only_after_ten_summaries_or_without_another_choice(self, articles, of_each):
        project = make_project()
        make_summaries(project, articles, of_each)
        order = rated_articles(make_rater(project))
        assert Counter(order) == {f"a{number}": of_each for number in range(articles)}
        for place, article in enumerate(order):
            lately = order[max(0, place - ARTICLE_GAP) : place][::-1]
            if article in lately:
                left = set(order[place:])
                assert left <= set(lately), "another article could have come"
                assert lately.index(article) == max(map(lately.index, left)), "another one was longer ago"

    def test_a_summary_whose_lease_expired_comes_back_at_once(self):
        project = make_project()
        make_summaries(project, 3, 2)
        rater = make_rater(project)
        first = take_assignment(rater)
        later = timezone.now() + timedelta(days=1)
        release_expired(project, later)
        assert take_assignment(rater, now=later) == first

    def test_a_project_may_give_each_rater_each_article_once(self):
        project = make_project(articles_once=True)
        make_summaries(project, 3, 2)
        first, second = make_rater(project), make_rater(project)
        assert sorted(rated_articles(first)) == ["a0", "a1", "a2"]
        assert [each.waiting for each in rater_languages(first)] == [0]
        assert sorted(rated_articles(second)) == ["a0", "a1", "a2"]

    @pytest.mark.parametrize("once", [False, True])
    def test_no_hidden_check_repeats_an_article(self, once):
        project = make_project(articles_once=once, check_rate=1)
        article = make_article(project)
        make_summary(project, article=article)
        rater = make_rater(project)
        rate_next(rater)
        make_gold(project, article=article, system=make_system(project, "other"))
        make_summary(project)
        assert not take_assignment(rater).is_check


@pytest.mark.django_db
class TestTakingAnAssignment:
    def test_it_returns_the_open_assignment_until_it_is_done(self):
        project = make_project()
        rater = make_rater(project)
        make_summary(project), make_summary(project)
        assert take_assignment(rater).pk == take_assignment(rater).pk

    def test_it_never_gives_a_summary_twice_to_one_rater(self):
        project = make_project()
        rater = make_rater(project)
        make_summary(project, ratings_wanted=3), make_summary(project, ratings_wanted=3)
        rated = [rate_next(rater) for _ in range(3)]
        assert None not in rated[:2]
        assert rated[0] != rated[1]
        assert rated[2] is None

    def test_it_gives_only_the_raters_languages(self):
        project = make_project()
        make_summary(project, language="de")
        assert take_assignment(make_rater(project, languages=["en"])) is None
        assert take_assignment(make_rater(project, languages=["en", "de"])) is not None

    def test_it_never_gives_gold_references_or_summaries_without_an_article(self):
        project = make_project()
        make_gold(project)
        make_summary(project, ratings_wanted=0)
        make_summary(project, article=make_article(project, text=""))
        assert take_assignment(make_rater(project)) is None

    def test_it_never_gives_summaries_of_another_project(self):
        make_summary(make_project())
        assert take_assignment(make_rater(make_project())) is None

    @pytest.mark.parametrize("status", [Rater.Status.TRAINING, Rater.Status.SUSPENDED, Rater.Status.REMOVED])
    def test_it_refuses_raters_who_are_not_qualified(self, status):
        project = make_project()
        make_summary(project)
        with pytest.raises(NotAllowed):
            take_assignment(make_rater(project, status=status))

    def test_an_expired_lease_goes_to_another_rater_and_does_not_come_back(self):
        project = make_project()
        summary = make_summary(project)
        first, second = make_rater(project), make_rater(project)
        held = take_assignment(first)
        assert take_assignment(second) is None
        later = timezone.now() + timedelta(minutes=project.lease_minutes + 1)
        assert take_assignment(second, now=later).summary_id == summary.pk
        held.refresh_from_db()
        assert held.state == Assignment.State.RELEASED
        assert take_assignment(first, now=later) is None

    def test_a_rater_with_an_expired_lease_continues_at_the_same_stage(self):
        project = make_project()
        make_summary(project)
        rater = make_rater(project)
        assignment = take_assignment(rater)
        submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("yes")})
        later = timezone.now() + timedelta(days=1)
        assert release_expired(project, later) == 1
        again = take_assignment(rater, now=later)
        assert (again.pk, again.stage) == (assignment.pk, 2)

    def test_a_skipped_summary_goes_to_another_rater_and_does_not_return(self):
        project = make_project()
        make_summary(project)
        first, second = make_rater(project), make_rater(project)
        skip_assignment(first, take_assignment(first).pk, "text")
        assert take_assignment(first) is None
        assert take_assignment(second) is not None

    @pytest.mark.parametrize("reason", ["", "boring"])
    def test_a_summary_is_skipped_for_a_known_reason(self, reason):
        project = make_project()
        make_summary(project)
        rater = make_rater(project)
        assignment = take_assignment(rater)
        with pytest.raises(DomainError, match="say why you skip it"):
            skip_assignment(rater, assignment.pk, reason)
        skip_assignment(rater, assignment.pk, "text")
        assignment.refresh_from_db()
        assert (assignment.state, assignment.skip_reason) == ("skipped", "text")

    def test_a_finished_assignment_cannot_be_skipped(self):
        project = make_project()
        make_summary(project)
        rater = make_rater(project)
        assignment = take_assignment(rater)
        submit_stage(rater, assignment.pk, 1, NOT_READABLE)
        with pytest.raises(AssignmentGone):
            skip_assignment(rater, assignment.pk, "hard")


@pytest.mark.django_db
class TestPlaces:
    def test_removing_a_rater_frees_their_summaries_and_reinstating_takes_them_back(self):
        project = make_project()
        summary = make_summary(project)
        rater = make_rater(project)
        rate_next(rater)
        assert Rating.objects.countable().count() == 1
        remove_rater(rater)
        summary.refresh_from_db()
        assert (summary.open_places, Rating.objects.countable().count()) == (1, 0)
        reinstate_rater(rater)
        summary.refresh_from_db()
        assert (summary.open_places, Rating.objects.countable().count()) == (0, 1)

    def test_removing_a_rater_in_the_middle_of_a_summary_frees_it(self):
        project = make_project()
        make_summary(project)
        rater = make_rater(project)
        take_assignment(rater)
        remove_rater(rater)
        assert take_assignment(make_rater(project)) is not None

    def test_open_places_stay_at_zero_when_one_rating_too_many_is_reinstated(self):
        project = make_project()
        summary = make_summary(project)
        rater = make_rater(project)
        rate_next(rater)
        remove_rater(rater)
        rate_next(make_rater(project))
        reinstate_rater(rater)
        summary.refresh_from_db()
        assert summary.open_places == 0

    def test_recounting_changes_nothing_when_the_counter_is_right(self):
        project = make_project()
        for wanted in (1, 2, 3):
            make_summary(project, ratings_wanted=wanted)
        for _ in range(2):
            rater = make_rater(project)
            rate_next(rater)
            take_assignment(rater)
        before = dict(Summary.objects.values_list("pk", "open_places"))
        recount_places(before)
        assert dict(Summary.objects.values_list("pk", "open_places")) == before

    def test_the_share_with_extra_ratings_is_close_to_the_setting_and_stable(self):
        project = make_project(extra_share=0.2, redundancy=1, extra_redundancy=3)
        wanted = [wanted_ratings(project, f"article-{n}", "system") for n in range(5000)]
        assert wanted == [wanted_ratings(project, f"article-{n}", "system") for n in range(5000)]
        assert set(wanted) == {1, 3}
        assert 0.17 < wanted.count(3) / 5000 < 0.23


@pytest.mark.django_db(transaction=True)
def test_eight_concurrent_raters_give_every_summary_its_wanted_ratings():
    project = make_project()
    wanted = {make_summary(project, ratings_wanted=1 + n % 3).pk: 1 + n % 3 for n in range(24)}
    raters = [make_rater(project) for _ in range(8)]
    errors: list[BaseException] = []

    def work(rater: Rater) -> None:
        try:
            while rate_next(rater) is not None:
                pass
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(rater,)) for rater in raters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    given: dict[int, int] = {}
    for summary_id in Rating.objects.filter(summary__project=project).values_list("summary", flat=True):
        given[summary_id] = given.get(summary_id, 0) + 1
    assert given == wanted
    assert not Summary.objects.filter(project=project, open_places__gt=0).exists()


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans for the values")
def test_a_plan_for_any_rater_finds_open_places_by_their_index():
    summaries = Summary.objects.with_open_places(make_project(), ["en"])
    statement, values = summaries.query.sql_with_params()
    numbered = statement % tuple(f"${number}" for number in range(1, len(values) + 1))
    with connection.cursor() as cursor:
        # A table of a few rows is faster to read as a whole.
        for setting in (
            "enable_seqscan = off",
            "enable_bitmapscan = off",
            "plan_cache_mode = force_generic_plan",
        ):
            cursor.execute(f"SET LOCAL {setting}")
        cursor.execute(f"PREPARE places AS {numbered}")
        cursor.execute(f"EXPLAIN EXECUTE places ({', '.join(['%s'] * len(values))})", values)
        assert "summary_open_places" in str(cursor.fetchall())
