"""Which ratings and scores count: the snapshot is the only door to the statistics."""

from threading import Thread

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import protocol
from annotation.actions.gold_rounds import next_in_round, start_round
from annotation.actions.people import reinstate_rater, remove_rater, suspend_rater
from annotation.actions.rating import GivenAnswer, correct_answer, submit_stage
from annotation.labels import human_labels
from annotation.models import Answer, Project, Question, Rater, Rating
from metaeval import snapshot as module
from metaeval.snapshot import snapshot_of
from scoring.models import SeenArticle
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
    """Question key -> {summary id: label}, of the summaries that have one."""
    snapshot = snapshot_of(project)
    return {
        labels.key: {
            int(pk): float(value)
            for pk, value in zip(snapshot.summary_ids, labels.values, strict=True)
            if not np.isnan(value)
        }
        for labels in snapshot.labels(group)
    }


@pytest.fixture
def project(db):
    return make_project()


def test_a_label_is_the_mean_over_raters_with_yes_1_and_no_0(project):
    summary = make_summary(project)
    for answer in ("yes", "yes", "no"):
        rate(summary, make_rater(project), comprehensibility=answer)
    assert labels_of(project)["comprehensibility"] == {summary.pk: 2 / 3}


def test_unsure_is_left_out_of_the_mean_and_alone_makes_no_label(project):
    mixed, unsure = make_summary(project), make_summary(project)
    for answer in ("yes", "unsure"):
        rate(mixed, make_rater(project), grammar=answer)
    rate(unsure, make_rater(project), grammar="unsure")
    assert labels_of(project)["grammar"] == {mixed.pk: 1.0}


def test_points_of_an_ordinal_scale_count_as_their_number(db):
    project = make_project(protocol.SUMMEVAL)
    summary = make_summary(project)
    for answer in ("2", "5", "4"):
        rate(summary, make_rater(project), coherence=answer)
    assert labels_of(project)["coherence"] == {summary.pk: 11 / 3}


def test_labels_are_those_of_the_rule_in_the_database(project):
    rng = np.random.default_rng(5)
    raters = [make_rater(project) for _ in range(4)]
    for _ in range(12):
        summary = make_summary(project)
        for rater in rng.choice(raters, size=rng.integers(1, 5), replace=False):
            rate(summary, rater, **{key: str(rng.choice(["yes", "no", "unsure"])) for key in SEAHORSE_KEYS})
    found = labels_of(project)
    for question in Question.objects.filter(questionnaire=project.questionnaire):
        assert found[question.key] == pytest.approx(human_labels(project, question), abs=1e-12)


def test_equal_ratings_make_equal_labels_in_whatever_order_they_came(db):
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


def test_the_same_number_in_two_spellings_is_one_answer(db):
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


def test_a_rating_of_a_gold_round_does_not_count_nor_is_its_summary_among_the_rated(project):
    project.gold_round_size = 1
    project.save()
    gold = make_gold(project)
    rater = make_rater(project, status=Rater.Status.TRAINING)
    assignment = next_in_round(start_round(rater))
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    assert Rating.objects.filter(completed_at__isnull=False).count() == 1
    snapshot = snapshot_of(project)
    assert snapshot.n_ratings == 0
    assert gold.summary_id not in snapshot.summary_ids
    assert not any(len(ratings.answers) for ratings in snapshot.human.questions)


def test_a_superseded_revision_does_not_count(project):
    summary, rater = make_summary(project), make_rater(project)
    rating = rate(summary, rater, **dict.fromkeys(SEAHORSE_KEYS, "yes"))
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("no"))
    assert Answer.objects.filter(rating=rating, question__key="grammar").count() == 2
    assert labels_of(project)["grammar"] == {summary.pk: 0.0}


def test_a_removed_rater_counts_no_more_and_a_reinstated_one_exactly_as_before(project):
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


def test_what_a_suspended_rater_has_rated_still_counts(project):
    rater, summary = make_rater(project), make_summary(project)
    rate(summary, rater, comprehensibility="yes")
    suspend_rater(rater)
    assert labels_of(project)["comprehensibility"] == {summary.pk: 1.0}


def test_labels_of_a_group_stand_on_its_raters_alone(project):
    summary = make_summary(project)
    rate(summary, make_rater(project, group="expert"), grammar="no")
    rate(summary, make_rater(project, group="crowd"), grammar="yes")
    assert labels_of(project, "expert")["grammar"] == {summary.pk: 0.0}
    assert labels_of(project)["grammar"] == {summary.pk: 0.5}
    assert snapshot_of(project).human.groups == ("crowd", "expert")


def test_bare_references_and_gold_summaries_are_not_there_unless_they_were_rated(project):
    reference = make_summary(project, system=make_system(project, "reference"), ratings_wanted=0)
    make_gold(project)
    rateable = make_summary(project)
    assert snapshot_of(project).summary_ids.tolist() == [rateable.pk]
    rate(reference, make_rater(project), comprehensibility="yes")
    assert snapshot_of(project).summary_ids.tolist() == sorted([reference.pk, rateable.pk])


def test_another_projects_ratings_and_scores_do_not_count(project):
    other = make_project()
    summary = make_summary(other)
    rate(summary, make_rater(other), comprehensibility="yes")
    score(make_setup(other, "Length"), {summary: 1.0})
    snapshot = snapshot_of(project)
    assert (snapshot.n_ratings, len(snapshot.summaries), snapshot.evaluators) == (0, 0, ())


def test_scores_come_with_the_reasons_for_missing_ones(project):
    first, second, third = (make_summary(project) for _ in range(3))
    score(make_setup(project, "Length"), {first: 3.0, third: "empty summary"})
    (evaluator,) = snapshot_of(project).evaluators
    scores = evaluator.on("grammar")
    assert scores.values.tolist()[0] == 3.0
    assert np.isnan(scores.values[1:]).all()
    assert scores.why.tolist() == [-1, -1, 0]
    assert scores.reasons == ("empty summary",)
    assert second.pk in snapshot_of(project).summary_ids


def test_scores_of_summaries_that_nobody_is_to_rate_are_passed_over(project):
    rateable = make_summary(project)
    reference = make_summary(project, ratings_wanted=0)
    score(make_setup(project, "Length"), {reference: 9.0, rateable: 3.0})
    (evaluator,) = snapshot_of(project).evaluators
    assert evaluator.on("grammar").values.tolist() == [3.0]


def test_a_score_on_the_dimension_goes_before_a_general_one(project):
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


def test_seen_articles_are_known_by_evaluator(project):
    article = make_article(project)
    seen, unseen = make_summary(project, article=article), make_summary(project)
    setup = make_setup(project, "ICE")
    score(setup, {seen: 1.0, unseen: 2.0})
    SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
    snapshot = snapshot_of(project)
    (evaluator,) = snapshot.evaluators
    is_seen = np.isin(snapshot.summaries.articles, list(evaluator.seen))
    assert snapshot.summary_ids[is_seen].tolist() == [seen.pk]


def test_nobody_can_change_its_arrays(project):
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


def test_twenty_rated_summaries_cost_as_many_queries_as_two(project):
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
class TestKept:
    """Outside of a transaction a snapshot is kept while its revision is current."""

    @pytest.fixture
    def reads(self, monkeypatch):
        read = module._read
        seen = []
        monkeypatch.setattr(module, "_read", lambda project: seen.append(project.pk) or read(project))
        return seen

    def test_it_is_read_once_for_one_revision(self, reads):
        project = make_project()
        assert snapshot_of(project) is snapshot_of(project)
        assert reads == [project.pk]

    def test_a_new_revision_is_read_anew(self, reads):
        project = make_project()
        before = snapshot_of(project)
        rate(make_summary(project), make_rater(project), comprehensibility="yes")
        after = snapshot_of(project)
        assert (before.n_ratings, after.n_ratings) == (0, 1)
        assert after.revision == before.revision + 1
        assert len(reads) == 2

    def test_only_a_few_projects_are_kept(self, reads):
        projects = [make_project() for _ in range(module.KEPT_PROJECTS + 1)]
        for project in projects:
            snapshot_of(project)
        snapshot_of(projects[-1])
        assert len(reads) == len(projects)
        snapshot_of(projects[0])
        assert len(reads) == len(projects) + 1

    def test_it_shows_one_moment_although_a_rating_comes_in_while_it_is_read(self, monkeypatch):
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
    """Run `act` in a thread, which has a database connection of its own."""
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
    thread.join(20)
    assert not thread.is_alive()
    assert not failed, failed


def test_the_latest_rating_has_its_time(project):
    assert snapshot_of(project).latest_rating_at is None
    rate(make_summary(project), make_rater(project), comprehensibility="yes")
    assert snapshot_of(project).latest_rating_at == RATED_AT
    assert timezone.now() > RATED_AT
