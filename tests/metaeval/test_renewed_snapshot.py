"""A snapshot that was renewed by what has changed is the one that is read anew as a whole."""

from dataclasses import fields, is_dataclass
from threading import Event, Thread

import numpy as np
import pytest
from django.db import connection, transaction

from annotation import protocol
from annotation.actions.people import remove_rater
from annotation.actions.rating import GivenAnswer, correct_answer
from annotation.models import Answer, Project, ProjectChange, Question, Rating
from annotation.models import projects as projects_module
from annotation.models.changes import Changed
from metaeval import snapshot as module
from metaeval.reading import scores as scores_module
from metaeval.reading.changes import changes_since
from metaeval.snapshot import snapshot_of
from tests.factories import make_project, make_rater, make_summary
from tests.metaeval.project_story import NUMBERS_AND_POINTS, Story
from tests.metaeval.rated_projects import RATED_AT, make_setup, rate, score

pytestmark = pytest.mark.django_db(transaction=True)

RATING, RATER = ProjectChange.Kind.RATING, ProjectChange.Kind.RATER


@pytest.fixture
def whole_reads(monkeypatch):
    """The projects that were read as a whole."""
    read = module._read
    seen = []
    monkeypatch.setattr(module, "_read", lambda project: seen.append(project.pk) or read(project))
    return seen


def read_anew(project):
    module._kept.pop(project.pk, None)
    return snapshot_of(project)


def differences(one, other, where="snapshot"):
    """Where two of the same type differ, down to every array's values and type."""
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


@pytest.mark.parametrize("questionnaire", [protocol.SEAHORSE, NUMBERS_AND_POINTS], ids=lambda each: each.key)
@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_it_is_the_one_that_is_read_anew(questionnaire, seed, tmp_path, whole_reads):
    story = Story(seed, questionnaire, tmp_path)
    shown = snapshot_of(story.project)
    renewed = 0
    for step in range(48):
        story.go_on()
        if step % 3:
            continue  # so that some are renewed by several changes at once
        before, earlier = len(whole_reads), shown
        shown = snapshot_of(story.project)
        if shown is earlier:
            continue  # whoever joins, or is planned, changes no number
        renewed += len(whole_reads) == before
        kept = module._kept[story.project.pk]
        assert differences(shown, read_anew(story.project)) == [], story.happened
        module._kept[story.project.pk] = kept
    assert renewed >= 5


def test_in_a_story_everything_happens(tmp_path):
    story = Story(0, protocol.SEAHORSE, tmp_path)
    wanted = {
        "rate",
        "correct",
        "remove_or_reinstate",
        "suspend",
        "join",
        "change_gold_set",
        "score",
        "plan",
        "delete_run",
        "import_ratings",
        "import_scores",
        "change_settings",
    }
    for _ in range(1000):
        story.go_on()
        if set(story.happened) == wanted:
            return
    raise AssertionError(wanted - set(story.happened))


@pytest.fixture
def project():
    return make_project()


def answers(project, key="comprehensibility"):
    ratings = next(each for each in snapshot_of(project).human.questions if each.question.key == key)
    return [ratings.values[place] for place in ratings.answers]


def test_a_correction_and_a_removal_are_read_alone(project, whole_reads):
    summary, rater = make_summary(project), make_rater(project)
    rating = rate(summary, rater, **dict.fromkeys([q.key for q in protocol.SEAHORSE.questions], "yes"))
    rate(summary, make_rater(project), grammar="yes")
    assert answers(project, "grammar") == ["yes", "yes"]
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("no"))
    assert answers(project, "grammar") == ["no", "yes"]
    remove_rater(rater)
    assert answers(project, "grammar") == ["yes"]
    assert whole_reads == [project.pk]


def test_scores_that_did_not_change_are_the_same_arrays_as_before(project, whole_reads):
    summary, rater = make_summary(project), make_rater(project)
    score(make_setup(project, "Length"), {summary: 1.0})
    rating = rate(summary, rater, grammar="yes")
    before = snapshot_of(project)
    project.bump_revision(Changed(RATING, rating.pk))
    after = snapshot_of(project)
    assert after is not before
    assert after.evaluators[0].scores["general"] is before.evaluators[0].scores["general"]
    assert after.summaries is before.summaries
    assert whole_reads == [project.pk]


def test_a_setup_with_many_new_scores_is_read_as_a_whole(monkeypatch, tmp_path, whole_reads):
    story = Story(1, protocol.SEAHORSE, tmp_path)
    while not story.happened["score"]:
        story.go_on()
    snapshot_of(story.project)
    monkeypatch.setattr(scores_module, "MOST_ALONE", 1)
    before = len(whole_reads)
    story.score()
    story.score()
    shown = snapshot_of(story.project)
    assert len(whole_reads) == before
    assert differences(shown, read_anew(story.project)) == []


def test_a_revision_that_does_not_say_what_it_changed_has_everything_read(project, whole_reads):
    snapshot_of(project)
    rater = make_rater(project)
    rating = rate(make_summary(project), rater, comprehensibility="yes")  # says nothing
    project.bump_revision(Changed(RATING, rating.pk))
    assert answers(project) == ["yes"]
    assert len(whole_reads) == 2


def test_whoever_is_too_far_behind_reads_everything(project, monkeypatch):
    monkeypatch.setattr(projects_module, "KEPT_CHANGES", 10)
    for _ in range(35):
        project.bump_revision(Changed(RATER, 1))
    kept = list(project.changes.order_by("revision").values_list("revision", flat=True))
    assert kept == list(range(21, 36))
    assert changes_since(project, 25, 35) is not None
    assert changes_since(project, 20, 35) is not None
    assert changes_since(project, 19, 35) is None


def test_a_database_that_was_set_back_has_everything_read(project, whole_reads):
    rate(make_summary(project), make_rater(project), comprehensibility="yes")
    project.bump_revision()
    snapshot_of(project)
    Project.objects.filter(pk=project.pk).update(revision=1)
    assert snapshot_of(project).revision == 1
    assert len(whole_reads) == 2


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets only one transaction write at a time")
def test_a_rating_that_was_begun_earlier_and_committed_later_is_not_missed(project, whole_reads):
    summary, slow_rater, quick_rater = make_summary(project), make_rater(project), make_rater(project)
    snapshot_of(project)
    begun, go_on = Event(), Event()

    def rate_slowly():
        with transaction.atomic():
            rating = rate_quietly(summary, slow_rater, "no")
            begun.set()
            assert go_on.wait(20)
            project.bump_revision(Changed(RATING, rating.pk))
        connection.close()

    slow = Thread(target=rate_slowly)
    slow.start()
    assert begun.wait(20)
    with transaction.atomic():
        project.bump_revision(Changed(RATING, rate_quietly(summary, quick_rater, "yes").pk))
    assert answers(project) == ["yes"]
    go_on.set()
    slow.join(20)
    assert answers(project) == ["no", "yes"]
    assert whole_reads == [project.pk]


def rate_quietly(summary, rater, answer):
    """A finished rating that no revision speaks of yet."""
    rating = Rating.objects.create(summary=summary, rater=rater, created_at=RATED_AT, completed_at=RATED_AT)
    question = Question.objects.get(questionnaire=rater.project.questionnaire, key="comprehensibility")
    Answer.objects.create(rating=rating, question=question, value=answer, created_at=RATED_AT)
    return rating
