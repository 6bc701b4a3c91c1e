"""The ratings and scores that a snapshot includes."""

from threading import Thread

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import protocol
from annotation.gold.rounds import next_in_round, start_round
from annotation.labels import human_labels
from annotation.models import Answer, Project, Question, Rater, Rating
from annotation.people.members import reinstate_rater, remove_rater, suspend_rater
from annotation.rating.submitting import GivenAnswer, correct_answer
from metaeval.snapshot import snapshot as module
from metaeval.snapshot.snapshot import snapshot_of
from scoring.models import SeenArticle
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import (
    make_article,
    make_gold,
    make_project,
    make_rater,
    make_summary,
    make_system,
)
from tests.metaeval.rated_projects import RATED_AT, make_setup, rate, score

SEAHORSE_KEYS = [question.key for question in protocol.SEAHORSE.questions]


def labels_of(project, group=""):
    """Return {summary id: label} by question key, for labelled summaries."""
    snapshot = snapshot_of(project)
    return {
        labels.key: {
            int(pk): float(value)
            for pk, value in zip(snapshot.summary_ids, labels.values, strict=True)
            if not np.isnan(value)
        }
        for labels in snapshot.labels(group)
    }


def test_labels_are_means_with_yes_as_1_and_no_as_0(project):
    summary = make_summary(project)
    for answer in ("yes", "yes", "no"):
        rate(summary, make_rater(project), comprehensibility=answer)
    assert labels_of(project)["comprehensibility"] == {summary.pk: 2 / 3}


def test_unsure_answers_do_not_count_towards_labels(project):
    mixed, unsure = make_summary(project), make_summary(project)
    for answer in ("yes", "unsure"):
        rate(mixed, make_rater(project), grammar=answer)
    rate(unsure, make_rater(project), grammar="unsure")
    assert labels_of(project)["grammar"] == {mixed.pk: 1.0}


def test_ordinal_points_count_as_numbers(db):
    project = make_project(protocol.SUMMEVAL)
    summary = make_summary(project)
    for answer in ("2", "5", "4"):
        rate(summary, make_rater(project), coherence=answer)
    assert labels_of(project)["coherence"] == {summary.pk: 11 / 3}


def test_labels_equal_those_of_the_labelled_pool_and_the_api(project):
    rng = np.random.default_rng(5)
    raters = [make_rater(project) for _ in range(4)]
    for _ in range(12):
        summary = make_summary(project)
        for rater in rng.choice(raters, size=rng.integers(1, 5), replace=False):
            rate(summary, rater, **{key: str(rng.choice(["yes", "no", "unsure"])) for key in SEAHORSE_KEYS})
    found = labels_of(project)
    for question in Question.objects.filter(questionnaire=project.questionnaire):
        assert found[question.key] == human_labels(project, question)


def test_labels_do_not_depend_on_the_order_of_ratings(db):
    questionnaire = protocol.Questionnaire(
        "interval", "Interval", ("All",),
        (protocol.Question("q", "q", "Q", "?", 1, protocol.Scale(protocol.ScaleKind.INTERVAL)),),
    )  # fmt: skip
    project = make_project(questionnaire)
    raters = [make_rater(project) for _ in range(3)]
    numbers = ("0.1", "0.7", "1e16")
    summaries = [make_summary(project), make_summary(project)]
    for summary, given in zip(summaries, (numbers, numbers[::-1]), strict=True):
        for rater, number in zip(raters, given, strict=True):
            rate(summary, rater, q=number)
    first, second = labels_of(project)["q"].values()
    assert first == second


def test_two_spellings_of_a_number_are_the_same_answer(db):
    questionnaire = protocol.Questionnaire(
        "interval", "Interval", ("All",),
        (protocol.Question("q", "q", "Q", "?", 1, protocol.Scale(protocol.ScaleKind.INTERVAL)),),
    )  # fmt: skip
    project = make_project(questionnaire)
    summary = make_summary(project)
    for number in ("3", "3.0", "2.5"):
        rate(summary, make_rater(project), q=number)
    ratings = snapshot_of(project).human.questions[0]
    assert ratings.values == ("2.5", "3.0")
    assert sorted(ratings.answers.tolist()) == [0, 1, 1]


def test_an_unfinished_rating_does_not_count(project):
    rating = rate(make_summary(project), make_rater(project), comprehensibility="yes")
    Rating.objects.filter(pk=rating.pk).update(completed_at=None)
    assert labels_of(project)["comprehensibility"] == {}
    assert snapshot_of(project).n_ratings == 0


def test_ratings_and_summaries_of_gold_rounds_do_not_count(project):
    project.gold_round_size = 1
    project.save()
    gold = make_gold(project)
    rater = make_rater(project, status=Rater.Status.TRAINING)
    assignment = next_in_round(start_round(rater, "en"))
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    assert Rating.objects.filter(completed_at__isnull=False).count() == 1
    snapshot = snapshot_of(project)
    assert snapshot.n_ratings == 0
    assert gold.summary_id not in snapshot.summary_ids
    assert not any(len(ratings.answers) for ratings in snapshot.human.questions)


def test_earlier_revisions_of_a_rating_do_not_count(project):
    summary, rater = make_summary(project), make_rater(project)
    rating = rate(summary, rater, **dict.fromkeys(SEAHORSE_KEYS, "yes"))
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("no"))
    assert Answer.objects.filter(rating=rating, question__key="grammar").count() == 2
    assert labels_of(project)["grammar"] == {summary.pk: 0.0}


def test_removing_a_rater_changes_labels_and_reinstating_restores_them(project):
    raters = [make_rater(project) for _ in range(3)]
    for _ in range(5):
        summary = make_summary(project)
        for rater, answer in zip(raters, ("yes", "no", "yes"), strict=True):
            rate(summary, rater, comprehensibility=answer)
    before = labels_of(project)
    remove_rater(raters[1])
    assert set(labels_of(project)["comprehensibility"].values()) == {1.0}
    assert snapshot_of(project).n_ratings == 10
    reinstate_rater(raters[1])
    assert labels_of(project) == before


def test_ratings_of_suspended_raters_count(project):
    rater, summary = make_rater(project), make_summary(project)
    rate(summary, rater, comprehensibility="yes")
    suspend_rater(rater)
    assert labels_of(project)["comprehensibility"] == {summary.pk: 1.0}


def test_labels_of_a_group_use_only_its_raters(project):
    summary = make_summary(project)
    rate(summary, make_rater(project, group="expert"), grammar="no")
    rate(summary, make_rater(project, group="crowd"), grammar="yes")
    assert labels_of(project, "expert")["grammar"] == {summary.pk: 0.0}
    assert labels_of(project)["grammar"] == {summary.pk: 0.5}
    assert snapshot_of(project).human.groups == ("crowd", "expert")


def test_unrated_references_and_gold_summaries_are_not_included(project):
    reference = make_summary(project, system=make_system(project, "reference"), ratings_wanted=0)
    make_gold(project)
    rateable = make_summary(project)
    assert snapshot_of(project).summary_ids.tolist() == [rateable.pk]
    rate(reference, make_rater(project), comprehensibility="yes")
    assert snapshot_of(project).summary_ids.tolist() == sorted([reference.pk, rateable.pk])


def test_ratings_and_scores_of_other_projects_do_not_count(project):
    other = make_project()
    summary = make_summary(other)
    rate(summary, make_rater(other), comprehensibility="yes")
    score(make_setup(other, "Length"), {summary: 1.0})
    snapshot = snapshot_of(project)
    assert (snapshot.n_ratings, len(snapshot.summaries), snapshot.evaluators) == (0, 0, ())


def test_missing_scores_have_their_reasons(project):
    first, second, third = (make_summary(project) for _ in range(3))
    score(make_setup(project, "Length"), {first: 3.0, third: "empty summary"})
    (evaluator,) = snapshot_of(project).evaluators
    scores = evaluator.on("grammar")
    assert scores.values.tolist()[0] == 3.0
    assert np.isnan(scores.values[1:]).all()
    assert scores.why.tolist() == [-1, -1, 0]
    assert scores.reasons == ("empty summary",)
    assert second.pk in snapshot_of(project).summary_ids


def test_scores_of_summaries_not_meant_for_rating_are_ignored(project):
    rateable = make_summary(project)
    reference = make_summary(project, ratings_wanted=0)
    score(make_setup(project, "Length"), {reference: 9.0, rateable: 3.0})
    (evaluator,) = snapshot_of(project).evaluators
    assert evaluator.on("grammar").values.tolist() == [3.0]


def test_a_score_on_the_dimension_takes_precedence_over_a_general_one(project):
    summary = make_summary(project)
    setup = make_setup(project, "Both")
    score(setup, {summary: 1.0})
    score(setup, {summary: 2.0}, "grammar")
    (evaluator,) = snapshot_of(project).evaluators
    assert evaluator.on("grammar").values.tolist() == [2.0]
    assert evaluator.on("attribution").values.tolist() == [1.0]


def test_a_setup_without_any_score_is_named_but_not_compared(project):
    make_setup(project, "Waiting")
    snapshot = snapshot_of(project)
    assert snapshot.evaluators == ()
    assert snapshot.without_scores == ("Waiting",)


def test_seen_articles_are_stored_per_evaluator(project):
    article = make_article(project)
    seen, unseen = make_summary(project, article=article), make_summary(project)
    setup = make_setup(project, "ICE")
    score(setup, {seen: 1.0, unseen: 2.0})
    SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
    snapshot = snapshot_of(project)
    (evaluator,) = snapshot.evaluators
    is_seen = np.isin(snapshot.summaries.articles, list(evaluator.seen_on("coherence")))
    assert snapshot.summary_ids[is_seen].tolist() == [seen.pk]


def test_arrays_are_read_only(project):
    rate(make_summary(project), make_rater(project), comprehensibility="yes")
    snapshot = snapshot_of(project)
    for array in (
        snapshot.summary_ids,
        snapshot.summaries.articles,
        snapshot.human.questions[0].answers,
        snapshot.labels()[0].values,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_more_summaries_cost_no_more_queries(project):
    rater = make_rater(project)
    setup = make_setup(project, "Length")

    def queries(summaries):
        for _ in range(summaries):
            summary = make_summary(project)
            rate(summary, rater, **dict.fromkeys(SEAHORSE_KEYS, "yes"))
            score(setup, {summary: 1.0})
        with CaptureQueriesContext(
            connection,
        ) as captured:
            snapshot_of(project)
        return len(captured)

    assert queries(2) == queries(18)


@pytest.mark.django_db(transaction=True)
class TestCache:
    """Outside transactions, a snapshot is cached while its revision is current."""

    @pytest.fixture
    def reads(self, monkeypatch):
        read = module._read
        seen = []
        monkeypatch.setattr(module, "_read", lambda project: seen.append(project.pk) or read(project))
        return seen

    def test_a_revision_is_read_once(self, reads):
        project = make_project()
        assert snapshot_of(project) is snapshot_of(project)
        assert reads == [project.pk]

    def test_a_new_revision_is_read_again(self, reads):
        project = make_project()
        before = snapshot_of(project)
        rate(make_summary(project), make_rater(project), comprehensibility="yes")
        after = snapshot_of(project)
        assert (before.n_ratings, after.n_ratings) == (0, 1)
        assert after.revision == before.revision + 1
        assert len(reads) == 2

    def test_only_a_few_projects_are_cached(self, reads):
        projects = [make_project() for _ in range(module.KEPT_PROJECTS + 1)]
        for project in projects:
            snapshot_of(project)
        snapshot_of(projects[-1])
        assert len(reads) == len(projects)
        snapshot_of(projects[0])
        assert len(reads) == len(projects) + 1

    def test_a_rating_stored_during_the_read_is_not_included(self, monkeypatch):
        project = make_project()
        summary, rater = make_summary(project), make_rater(project)
        rate(summary, rater, comprehensibility="yes")
        late = make_rater(project)
        read_summaries = module.read_summaries

        def interrupted(*arguments):
            _in_another_connection(lambda: rate(summary, late, comprehensibility="no"))
            return read_summaries(*arguments)

        monkeypatch.setattr(module, "read_summaries", interrupted)
        snapshot = snapshot_of(project)
        assert snapshot.revision == 1
        assert snapshot.n_ratings == 1
        assert Project.objects.get(pk=project.pk).revision == 2


def _in_another_connection(act):
    """Run `act` in a thread with its own database connection."""
    failed = []

    def body():
        try:
            act()
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    thread = Thread(target=body)
    thread.start()
    thread.join(120)
    assert not thread.is_alive()
    assert not failed, failed


def test_the_snapshot_has_the_time_of_the_latest_rating(project):
    assert snapshot_of(project).latest_rating_at is None
    rate(make_summary(project), make_rater(project), comprehensibility="yes")
    assert snapshot_of(project).latest_rating_at == RATED_AT
    assert timezone.now() > RATED_AT
