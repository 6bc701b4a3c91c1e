"""Summaries that evaluators are unsure about come first, and means of systems are weighted for that."""

import numpy as np
import pytest

from annotation import protocol
from annotation.errors import DomainError, NotAllowed
from annotation.models import Assignment, AuditEntry, Summary
from annotation.open_places import claim_place, shuffle_key
from metaeval.comparison.comparison import compare
from metaeval.models import Priority
from metaeval.priority.setting import chance_rows, remove_priority, set_priority
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.systems.report import label_figures, powered_figures
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import RATED_AT, make_setup, make_summaries, rate, score

pytestmark = pytest.mark.django_db

ARTICLES = 60


@pytest.fixture
def project():
    """Return two systems' summaries to rate; an evaluator doubts those of the first 20 articles."""
    project = make_project(protocol.YES_NO)
    summaries = make_summaries(project, [f"article {place:02}" for place in range(ARTICLES)], ["a", "b"])
    for each in summaries:
        each.open_places = 1
        each.shuffle_key = shuffle_key(project, each.article.external_id, each.system.name)
    Summary.objects.bulk_update(summaries, ["open_places", "shuffle_key"])
    doubted = {each: 0.5 if place < 40 else 0.999 for place, each in enumerate(summaries)}
    score(make_setup(project, "Chance"), doubted)
    score(make_setup(project, "Length"), {each: 100.0 + place for place, each in enumerate(summaries)})
    return project


@pytest.fixture
def manager(project):
    return make_member(project, "manager")


def key_of(project, label):
    return next(each.key for each in snapshot_of(project).evaluators if each.label == label)


def question_of(project):
    return project.questionnaire.questions.first()


def set_by(project, manager, *labels):
    return set_priority(
        project, manager, question_of(project).key, [key_of(project, label) for label in labels]
    )


def give_out(project, n):
    """Let a rater claim and rate n summaries with yes; return them in order."""
    rater = make_rater(project)
    claimed = []
    for _ in range(n):
        summary = claim_place(rater, ["en"], spread=True) or claim_place(rater, ["en"], spread=False)
        Assignment.objects.create(
            rater=rater, summary=summary, state="done", stage_opened_at=RATED_AT, leased_until=RATED_AT
        )
        rate(summary, rater, **{question_of(project).key: "yes"})
        claimed.append(summary)
    return claimed


def test_doubted_summaries_come_earlier(project, manager):
    set_by(project, manager, "Chance")
    _, *rows = chance_rows(project)
    places = {True: [], False: []}
    for article, _, _, _, place, _ in rows:
        places[article < "article 20"].append(place)
    assert np.mean(places[True]) < np.mean(places[False]) - 0.1
    assert AuditEntry.objects.filter(action="priority_set", project=project).exists()


def test_chances_follow_weights_and_the_means_use_them(project, manager):
    set_by(project, manager, "Chance")
    give_out(project, 50)
    snapshot = snapshot_of(project)
    rated = ~np.isnan(snapshot.labels()[0].values)
    chances = snapshot.draw_chances
    assert np.isnan(chances[~rated]).all()
    known = ~np.isnan(chances)
    assert known.sum() > 35  # a rater's next summary of an article waits for ten others
    doubted = np.array([score == 0.5 for score in snapshot.evaluators[0].on("").values])
    assert chances[known & doubted].min() > chances[known & ~doubted].max()
    comparison = compare(snapshot.summaries, snapshot.evaluators)
    labels = snapshot.labels()[0]
    figure = label_figures(comparison, labels, chances)[0]
    assert "one over the chance" in figure.as_json()["definition"]
    assert "not an even sample" in figure.as_json()["definition"]
    evaluator = next(each for each in comparison.evaluators if each.label == "Chance")
    assert "Active inference" in powered_figures(comparison, labels, evaluator, chances)[0].definitions[0]


def test_everything_drawn_needs_no_weights(project, manager):
    set_by(project, manager, "Chance")
    give_out(project, 2 * ARTICLES)
    snapshot = snapshot_of(project)
    assert snapshot.draw_chances is None
    assert "not an even sample" not in snapshot.labels()[0].definition


def test_others_projects_have_no_chances(project):
    assert snapshot_of(project).draw_chances is None


def test_several_evaluators_count_by_their_disagreement(project, manager):
    priority = set_by(project, manager, "Chance", "Length")
    assert sorted(priority.evaluators) == ["Chance", "Length"]
    weights = Summary.objects.filter(project=project).values_list("draw_weight", flat=True)
    assert np.mean(weights) == pytest.approx(1)
    assert np.std(weights) > 0.1


def test_the_order_can_be_random_again(project, manager):
    order = list(Summary.objects.order_by("shuffle_key").values_list("pk", flat=True))
    set_by(project, manager, "Chance")
    assert list(Summary.objects.order_by("shuffle_key").values_list("pk", flat=True)) != order
    remove_priority(project, manager)
    assert list(Summary.objects.order_by("shuffle_key").values_list("pk", flat=True)) == order
    assert not Priority.objects.exists()
    assert not Summary.objects.exclude(draw_weight=1).exists()


def test_the_order_is_fixed_once_work_began(project, manager):
    give_out(project, 1)
    before = list(Summary.objects.values_list("shuffle_key", flat=True))
    with pytest.raises(DomainError, match="can no longer change"):
        set_by(project, manager, "Chance")
    assert list(Summary.objects.values_list("shuffle_key", flat=True)) == before
    assert not Priority.objects.exists()


def test_unknown_questions_and_evaluators_are_refused(project, manager):
    question = question_of(project).key
    for asked, chosen in (("fluency", [key_of(project, "Chance")]), (question, []), (question, ["0"])):
        with pytest.raises(DomainError, match=r"no such question|at least one of those that have scores"):
            set_priority(project, manager, asked, chosen)
    assert not Priority.objects.exists()


def test_scores_that_are_no_chances_are_refused(project, manager):
    with pytest.raises(DomainError, match="evaluators: scores below 0 or above 1"):
        set_by(project, manager, "Length")


def test_articles_given_once_are_refused(project, manager):
    project.articles_once = True
    project.save()
    with pytest.raises(DomainError, match="given once"):
        set_by(project, manager, "Chance")


def test_only_managers_set_and_remove_it(project):
    researcher = make_member(project, "researcher")
    with pytest.raises(NotAllowed):
        set_by(project, researcher, "Chance")
    with pytest.raises(NotAllowed):
        remove_priority(project, researcher)


def test_the_table_holds_every_summary_in_order(project, manager):
    set_by(project, manager, "Chance")
    give_out(project, 10)
    head, *rows = chance_rows(project)
    assert head == ("article_id", "system", "language", "weight", "place", "chance")
    assert [row[4] for row in rows] == sorted(row[4] for row in rows)
    drawn = [row for row in rows if row[5] != ""]
    assert drawn == rows[: len(drawn)]
    assert 0 < len(drawn) <= 10
    assert all(0 < row[5] < 1 for row in drawn)
    assert len(rows) == 2 * ARTICLES
