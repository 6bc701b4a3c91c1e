"""How far the runs of a family are, and what is done with all of them at once."""

import pytest

from annotation.errors import NotAllowed, NotFound
from scoring.families.following import cancel_all, delete_family, families_of, family_of, resume_all
from scoring.families.starting import FamilyWanted, family_of_setups, plan_family, start_family
from scoring.models import EvaluatorSetup, FamilyMember, Run, RunFamily, Score
from scoring.planning import plan_run
from scoring.runs import delete_run
from scoring.working import work_on_run
from tests.factories import make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def family(project, researcher):
    wanted = FamilyWanted("Shares", "copy_rate", "share", ("0.1", "0.2", "0.3"))
    return start_family(plan_family(project, wanted), researcher)


def runs_of(family):
    return [member.setup.runs.first() for member in family.members.all()]


def statuses(family):
    return [run.status for run in runs_of(family)]


def test_progress_is_of_all_runs_together(project, family):
    work_on_run(runs_of(family)[1].pk)
    followed = family_of(project, family.pk)
    assert (followed.progress.done, followed.progress.total) == (3, 9)
    assert [member.is_done for member in followed.members] == [False, True, False]
    assert (followed.n_done, followed.n_unfinished, followed.n_stopped) == (1, 2, 0)
    assert [member.label for member in followed.members] == ["0.1", "0.2", "0.3"]


def test_all_are_cancelled_and_resumed_but_those_that_are_done(project, researcher, family):
    work_on_run(runs_of(family)[0].pk)
    assert cancel_all(family_of(project, family.pk), researcher) == 2
    assert statuses(family) == ["done", "cancelled", "cancelled"]
    assert family_of(project, family.pk).n_stopped == 2
    assert resume_all(family_of(project, family.pk), researcher) == 2
    assert statuses(family) == ["done", "queued", "queued"]


def test_a_run_that_has_ended_meanwhile_is_passed_over(project, researcher, family):
    behind = family_of(project, family.pk)
    work_on_run(runs_of(family)[2].pk)
    assert cancel_all(behind, researcher) == 2
    assert statuses(family) == ["cancelled", "cancelled", "done"]


def test_the_latest_run_of_a_setup_is_the_members(project, family):
    first = runs_of(family)[0]
    work_on_run(first.pk)
    make_summary(project)
    again = plan_run(project, "copy_rate", {"share": "0.1"})
    followed = family_of(project, family.pk)
    assert followed.members[0].run == again
    assert not followed.members[0].is_done


def test_deleting_a_family_keeps_runs_and_scores(project, researcher, family):
    work_on_run(runs_of(family)[0].pk)
    delete_family(family_of(project, family.pk), researcher)
    assert not RunFamily.objects.exists()
    assert not FamilyMember.objects.exists()
    assert (Run.objects.count(), Score.objects.count()) == (3, 3)


def test_a_member_leaves_with_its_last_run(project, researcher, family):
    first = runs_of(family)[0]
    work_on_run(first.pk)
    delete_run(first, researcher)
    assert [member.label for member in family_of(project, family.pk).members] == ["0.2", "0.3"]


def test_a_setup_is_in_several_families_and_each_has_its_own_name_for_it(project, researcher, family):
    setups = [member.setup_id for member in family.members.all()][:2]
    labelled = list(zip(setups, ("small", "large"), strict=True))
    family_of_setups(project, researcher, "Two", "models", labelled)
    latest, first = families_of(project)
    assert [member.label for member in latest.members] == ["small", "large"]
    assert [member.setup for member in latest.members] == [member.setup for member in first.members[:2]]


def test_others_do_nothing_with_it(project, family):
    followed = family_of(project, family.pk)
    for act in (cancel_all, resume_all, delete_family):
        with pytest.raises(NotAllowed):
            act(followed, make_rater(project).user)
    assert statuses(family) == ["queued"] * 3


def test_another_projects_family_does_not_exist(family):
    with pytest.raises(NotFound):
        family_of(make_project(), family.pk)
    assert families_of(make_project()) == []


def test_families_are_read_with_few_queries(project, researcher, family, django_assert_max_num_queries):
    setups = list(EvaluatorSetup.objects.values_list("pk", flat=True))
    for number in range(5):
        family_of_setups(project, researcher, str(number), "seeds", [(pk, str(pk)) for pk in setups])
    with django_assert_max_num_queries(5):
        assert len(families_of(project)) == 6
