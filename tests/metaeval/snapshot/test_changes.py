"""Snapshots updated by the recorded changes, which must equal complete reads."""

from dataclasses import fields, is_dataclass
from random import Random
from threading import Event, Thread

import numpy as np
import pytest
from django.db import connection, transaction
from hypothesis import settings

from annotation import protocol
from annotation.gold import checks
from annotation.models import Answer, Project, ProjectChange, Question, Rating
from annotation.models import projects as projects_module
from annotation.models.changes import Changed
from annotation.people.members import remove_rater
from annotation.rating.submitting import GivenAnswer, correct_answer
from metaeval.snapshot import scores as scores_module
from metaeval.snapshot import snapshot as module
from metaeval.snapshot.changes import changes_since
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_rater, make_summary
from tests.metaeval.random_history import NUMBERS_AND_POINTS, RandomHistory
from tests.metaeval.rated_projects import RATED_AT, make_setup, rate, score
from tests.metaeval.rating_invariants import RatingInvariants

pytestmark = pytest.mark.django_db(transaction=True)

RATING, RATER = ProjectChange.Kind.RATING, ProjectChange.Kind.RATER


@pytest.fixture(autouse=True)
def _repeatable_checks(monkeypatch):
    chance = Random(0)
    monkeypatch.setattr(checks, "SystemRandom", lambda: chance)


@pytest.fixture
def complete_reads(monkeypatch):
    """Return a list that collects the projects read completely."""
    read = module._read
    seen = []
    monkeypatch.setattr(module, "_read", lambda project: seen.append(project.pk) or read(project))
    return seen


def read_completely(project):
    module._kept.pop(project.pk, None)
    return snapshot_of(project)


def differences(one, other, where="snapshot"):
    """List the differences between two objects, down to the values and types of arrays."""
    if type(one) is not type(other):
        return [f"{where}: {type(one)} and {type(other)}"]
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return [] if same and not one.flags.writeable else [f"{where}: {one} and {other}"]
    if is_dataclass(one):
        pairs = [(each.name, getattr(one, each.name), getattr(other, each.name)) for each in fields(one)]
    elif isinstance(one, dict):
        pairs = [(key, one.get(key), other.get(key)) for key in sorted({*one, *other})]
    elif isinstance(one, tuple) and len(one) == len(other):
        pairs = [(place, *both) for place, both in enumerate(zip(one, other, strict=True))]
    else:
        return [] if one == other else [f"{where}: {one} and {other}"]
    return [each for name, a, b in pairs for each in differences(a, b, f"{where}.{name}")]


@pytest.mark.parametrize(
    "questionnaire",
    [protocol.SEAHORSE, pytest.param(NUMBERS_AND_POINTS, marks=pytest.mark.thorough)],
    ids=lambda each: each.key,
)
@pytest.mark.parametrize("seed", range(max(1, settings().max_examples // 25)))
def test_updated_snapshots_equal_complete_reads_after_random_changes(
    questionnaire, seed, tmp_path, complete_reads
):
    history = RandomHistory(seed, questionnaire, tmp_path)
    shown = snapshot_of(history.project)
    renewed = 0
    invariants = RatingInvariants(history.project)
    for step in range(48):
        history.act_at_random()
        assert invariants.broken() == [], history.happened
        if step % 3:
            continue  # so that some updates cover several changes
        before, earlier = len(complete_reads), shown
        shown = snapshot_of(history.project)
        if shown is earlier:
            continue  # a new member or setup changes no results
        renewed += len(complete_reads) == before
        assert invariants.wrongly_counted(shown) == [], history.happened
        kept = module._kept[history.project.pk]
        assert differences(shown, read_completely(history.project)) == [], history.happened
        module._kept[history.project.pk] = kept
    assert renewed


@pytest.mark.thorough
def test_random_histories_contain_every_action(tmp_path):
    history = RandomHistory(0, protocol.SEAHORSE, tmp_path)
    wanted = {
        "rate",
        "correct",
        "remove_or_reinstate",
        "adjudicate",
        "suspend",
        "join",
        "change_gold_set",
        "score",
        "plan",
        "delete_run",
        "import_ratings",
        "import_scores",
        "change_settings",
        "expire",
        "skip",
        "reopen",
        "void_or_restore_rating",
        "withdraw_or_restore_summary",
    }
    for _ in range(1000):
        history.act_at_random()
        if set(history.happened) == wanted:
            return
    raise AssertionError(wanted - set(history.happened))


def answers(project, key="comprehensibility"):
    ratings = next(each for each in snapshot_of(project).human.questions if each.question.key == key)
    return [ratings.values[place] for place in ratings.answers]


def test_corrections_and_removals_are_read_incrementally(project, complete_reads):
    summary, rater = make_summary(project), make_rater(project)
    rating = rate(summary, rater, **dict.fromkeys([q.key for q in protocol.SEAHORSE.questions], "yes"))
    rate(summary, make_rater(project), grammar="yes")
    assert answers(project, "grammar") == ["yes", "yes"]
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("no"))
    assert answers(project, "grammar") == ["no", "yes"]
    remove_rater(rater)
    assert answers(project, "grammar") == ["yes"]
    assert complete_reads == [project.pk]


def test_unchanged_scores_keep_their_arrays(project, complete_reads):
    summary, rater = make_summary(project), make_rater(project)
    score(make_setup(project, "Length"), {summary: 1.0})
    rating = rate(summary, rater, grammar="yes")
    before = snapshot_of(project)
    project.bump_revision(Changed(RATING, rating.pk))
    after = snapshot_of(project)
    assert after is not before
    assert after.evaluators[0].scores["general"] is before.evaluators[0].scores["general"]
    assert after.summaries is before.summaries
    assert complete_reads == [project.pk]


def test_a_setup_with_many_new_scores_is_read_completely(monkeypatch, tmp_path, complete_reads):
    history = RandomHistory(1, protocol.SEAHORSE, tmp_path)
    while not history.happened["score"]:
        history.act_at_random()
    snapshot_of(history.project)
    monkeypatch.setattr(scores_module, "MOST_ALONE", 1)
    before = len(complete_reads)
    history.score()
    history.score()
    shown = snapshot_of(history.project)
    assert len(complete_reads) == before
    assert differences(shown, read_completely(history.project)) == []


def test_a_revision_without_recorded_changes_needs_a_complete_read(project, complete_reads):
    snapshot_of(project)
    rater = make_rater(project)
    rating = rate(make_summary(project), rater, comprehensibility="yes")  # records no changes
    project.bump_revision(Changed(RATING, rating.pk))
    assert answers(project) == ["yes"]
    assert len(complete_reads) == 2


def test_changes_are_kept_only_for_recent_revisions(project, monkeypatch):
    monkeypatch.setattr(projects_module, "KEPT_CHANGES", 10)
    for _ in range(35):
        project.bump_revision(Changed(RATER, 1))
    kept = list(project.changes.order_by("revision").values_list("revision", flat=True))
    assert kept == list(range(21, 36))
    assert changes_since(project, 25, 35) is not None
    assert changes_since(project, 20, 35) is not None
    assert changes_since(project, 19, 35) is None


def test_a_restored_database_needs_a_complete_read(project, complete_reads):
    rate(make_summary(project), make_rater(project), comprehensibility="yes")
    project.bump_revision()
    snapshot_of(project)
    Project.objects.filter(pk=project.pk).update(revision=1)
    assert snapshot_of(project).revision == 1
    assert len(complete_reads) == 2


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets only one transaction write at a time")
def test_a_rating_committed_late_by_a_concurrent_transaction_is_read(project, complete_reads):
    summary, slow_rater, quick_rater = make_summary(project), make_rater(project), make_rater(project)
    snapshot_of(project)
    begun, may_commit = Event(), Event()

    def rate_slowly():
        with transaction.atomic():
            rating = rate_quietly(summary, slow_rater, "no")
            begun.set()
            assert may_commit.wait(120)
            project.bump_revision(Changed(RATING, rating.pk))
        connection.close()

    slow = Thread(target=rate_slowly)
    slow.start()
    assert begun.wait(120)
    with transaction.atomic():
        project.bump_revision(Changed(RATING, rate_quietly(summary, quick_rater, "yes").pk))
    assert answers(project) == ["yes"]
    may_commit.set()
    slow.join(120)
    assert answers(project) == ["no", "yes"]
    assert complete_reads == [project.pk]


def rate_quietly(summary, rater, answer):
    """Add a finished rating that no revision records yet."""
    rating = Rating.objects.create(summary=summary, rater=rater, created_at=RATED_AT, completed_at=RATED_AT)
    question = Question.objects.get(questionnaire=rater.project.questionnaire, key="comprehensibility")
    Answer.objects.create(rating=rating, question=question, value=answer, created_at=RATED_AT)
    return rating
