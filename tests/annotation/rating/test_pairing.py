"""Raters who are paired evenly, whenever they work."""

from collections import Counter
from itertools import combinations

import pytest

from annotation.models import Assignment
from annotation.open_places import claim_place_of
from annotation.rating.assigning import take_assignment
from tests.factories import make_article, make_project, make_rater, make_summary, make_system

pytestmark = pytest.mark.django_db

SUMMARIES = 48


def campaign(**settings):
    project = make_project(redundancy=2, **settings)
    system = make_system(project)
    for key in range(SUMMARIES):
        article = make_article(project)
        make_summary(
            project, article=article, system=system, shuffle_key=key, ratings_wanted=2, open_places=2
        )
    return project


def work(rater):
    """Let the rater finish the next summary; return False if there is none."""
    assignment = take_assignment(rater)
    if assignment is None:
        return False
    Assignment.objects.filter(pk=assignment.pk).update(state="done")
    return True


def shared_by_pair(project):
    """Return how many summaries each two raters share."""
    raters = {}
    for summary, rater in Assignment.objects.filter(rater__project=project).values_list("summary", "rater"):
        raters.setdefault(summary, []).append(rater)
    found = Counter(dict.fromkeys(combinations(sorted({r for rs in raters.values() for r in rs}), 2), 0))
    for both in raters.values():
        assert len(set(both)) == len(both) == 2
        found[tuple(sorted(both))] += 1
    return found


def in_shifts(project):
    """Let two raters work together in the morning and two others in the evening, day by day."""
    shifts = [[make_rater(project), make_rater(project)] for _ in range(2)]
    going = True
    while going:
        going = False
        for shift in shifts:
            for _ in range(4):
                for rater in shift:
                    going = work(rater) or going


def test_raters_of_other_shifts_share_as_many_summaries():
    project = campaign(pair_evenly=True)
    in_shifts(project)
    shared = shared_by_pair(project)
    assert sum(shared.values()) == SUMMARIES
    assert min(shared.values()) >= 7  # of 8 on average
    assert max(shared.values()) <= 9


def test_without_it_those_who_work_together_share_all():
    project = campaign()
    in_shifts(project)
    shared = shared_by_pair(project)
    assert sorted(shared.values())[:4] == [0, 0, 0, 0]


def test_one_rater_alone_gets_every_summary_once():
    project = campaign(pair_evenly=True)
    rater = make_rater(project)
    for _ in range(SUMMARIES):
        assert work(rater)
    assert not work(rater)


def test_a_place_that_another_rater_took_meanwhile_is_not_given_twice():
    project = campaign(pair_evenly=True)
    summary = project.summaries.order_by("shuffle_key").first()
    taken = [claim_place_of(summary.pk) for _ in range(3)]
    assert taken == [summary, summary, None]
    summary.refresh_from_db()
    assert summary.open_places == 0


def test_the_last_summaries_go_to_whoever_is_there():
    project = campaign(pair_evenly=True)
    raters = [make_rater(project), make_rater(project)]
    for rater in raters:
        while work(rater):
            pass
    assert sum(shared_by_pair(project).values()) == SUMMARIES
