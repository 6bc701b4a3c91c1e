from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.models import Invitation, Membership, Project, Rater, Rating, Summary
from annotation.people.members import (
    accept_invitation,
    effect_of_removal,
    find_invitation,
    invite,
    issue_api_token,
    qualify_rater,
    reinstate_rater,
    remove_member,
    remove_rater,
    revoke_invitation,
    suspend_rater,
    token_hash,
)
from annotation.rating.assigning import take_assignment
from tests.factories import make_gold, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db


def test_an_invited_annotator_becomes_a_rater_in_training():
    project = make_project()
    _, token = invite(project, "annotator", ["de", "en"])
    user = make_user()
    assert accept_invitation(token, user) == project
    rater = Rater.objects.get(user=user)
    assert (rater.status, rater.languages, rater.pseudonym) == ("training", ["de", "en"], "rater-1")


def test_an_invited_researcher_becomes_a_member():
    project = make_project()
    _, token = invite(project, "researcher")
    user = make_user()
    accept_invitation(token, user)
    assert Membership.objects.get(user=user).role == "researcher"
    assert not Rater.objects.filter(user=user).exists()


def test_an_invitation_works_once():
    _, token = invite(make_project(), "annotator", ["en"])
    accept_invitation(token, make_user())
    with pytest.raises(NotFound):
        accept_invitation(token, make_user())


def test_an_expired_or_unknown_invitation_is_refused():
    invitation, token = invite(make_project(), "annotator", ["en"])
    Invitation.objects.filter(pk=invitation.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    for text in (token, "nonsense", ""):
        with pytest.raises(NotFound):
            find_invitation(text)


def test_an_annotator_without_languages_is_refused():
    with pytest.raises(DomainError, match="language"):
        invite(make_project(), "annotator", [])


def test_invitations_and_api_tokens_are_stored_as_hashes():
    invitation, token = invite(make_project(), "researcher")
    assert token not in {str(value) for value in vars(invitation).values()}
    assert invitation.token_hash == token_hash(token)
    stored, text = issue_api_token(make_user(), "laptop")
    assert text not in {str(value) for value in vars(stored).values()}


def test_a_second_invitation_adds_languages_to_the_same_rater():
    project, user = make_project(), make_user()
    for languages in (["en"], ["tr"]):
        accept_invitation(invite(project, "annotator", languages)[1], user)
    assert Rater.objects.get(user=user).languages == ["en", "tr"]


@pytest.mark.parametrize(
    ("status", "act"),
    [
        ("qualified", qualify_rater),
        ("removed", qualify_rater),
        ("removed", suspend_rater),
        ("training", reinstate_rater),
    ],
)
def test_invalid_status_changes_are_refused(status, act):
    with pytest.raises(NotAllowed):
        act(make_rater(make_project(), status=status))


@pytest.mark.parametrize("stop", [suspend_rater, remove_rater])
@pytest.mark.parametrize("status", ["training", "qualified"])
def test_reinstating_restores_the_previous_status(stop, status):
    rater = make_rater(make_project(), status=status)
    stop(rater)
    reinstate_rater(rater)
    rater.refresh_from_db()
    assert rater.status == status


def test_removing_and_reinstating_raise_the_projects_revision():
    rater = make_rater(make_project())
    revisions = [0]
    for act in (remove_rater, reinstate_rater):
        act(rater)
        revisions.append(Project.objects.get(pk=rater.project_id).revision)
    assert revisions == [0, 1, 2]


def test_a_revoked_invitation_no_longer_works():
    invitation, token = invite(make_project(), "annotator", ["en"])
    revoke_invitation(invitation)
    with pytest.raises(NotFound):
        find_invitation(token)


def test_a_used_invitation_cannot_be_revoked():
    invitation, token = invite(make_project(), "researcher")
    accept_invitation(token, make_user())
    with pytest.raises(NotAllowed, match="used"):
        revoke_invitation(invitation)


def test_a_member_can_be_removed_but_not_the_last_manager():
    project = make_project()
    first, second = (
        Membership.objects.create(project=project, user=make_user(), role="manager") for _ in range(2)
    )
    researcher = Membership.objects.create(project=project, user=make_user(), role="researcher")
    remove_member(researcher)
    remove_member(first)
    with pytest.raises(NotAllowed, match="needs a manager"):
        remove_member(second)
    assert list(project.memberships.all()) == [second]


def test_the_predicted_effect_of_a_removal_matches_the_removal():
    project = make_project()
    rater, other = make_rater(project), make_rater(project)
    once, twice, gold = make_summary(project), make_summary(project), make_gold(project).summary
    bare = make_summary(project, ratings_wanted=0)
    make_summary(project)
    now = timezone.now()
    for summary, by in ((once, rater), (twice, rater), (twice, other), (gold, rater), (bare, rater)):
        Rating.objects.create(summary=summary, rater=by, created_at=now, completed_at=now)
    Summary.objects.filter(pk__in=[once.pk, twice.pk]).update(open_places=0)
    take_assignment(rater)

    def places() -> dict[int, int]:
        return dict(Summary.objects.values_list("pk", "open_places"))

    expected, before, counted = effect_of_removal(rater), places(), Rating.objects.countable().count()
    remove_rater(rater)
    after = places()
    assert expected.summaries == sum(after[pk] > before[pk] for pk in before) == 2
    assert expected.ratings == counted - Rating.objects.countable().count() == 4
