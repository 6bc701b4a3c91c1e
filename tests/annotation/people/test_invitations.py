"""Invitations: who may use one, how often and until when."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.models import Invitation, Membership, Rater, token_hash
from annotation.people.invitations import (
    Invitee,
    accept_invitation,
    find_invitation,
    invite,
    invite_all,
    revoke_invitation,
)
from annotation.people.members import reinstate_rater, remove_rater
from tests.factories import make_project, make_rater, make_user

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


def test_an_invitation_is_stored_as_a_hash():
    invitation, token = invite(make_project(), "researcher")
    assert token not in {str(value) for value in vars(invitation).values()}
    assert invitation.token_hash == token_hash(token)


def test_a_second_invitation_adds_languages_to_the_same_rater():
    project, user = make_project(), make_user()
    for languages in (["en"], ["tr"]):
        accept_invitation(invite(project, "annotator", languages)[1], user)
    assert Rater.objects.get(user=user).languages == ["en", "tr"]


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


def test_a_removed_rater_does_not_use_an_invitation_up():
    project = make_project()
    rater = make_rater(project)
    remove_rater(rater)
    invitation, token = invite(project, "annotator", ["de"])
    with pytest.raises(NotAllowed, match="reinstate you"):
        accept_invitation(token, rater.user)
    invitation.refresh_from_db()
    assert (invitation.status, Rater.objects.get(pk=rater.pk).languages) == ("open", ["en"])
    reinstate_rater(rater)
    accept_invitation(token, rater.user)
    assert Rater.objects.get(pk=rater.pk).languages == ["de", "en"]


def test_an_invitations_status_says_what_became_of_it():
    project = make_project()
    expired, used, revoked, still_open = (invite(project, "researcher") for _ in range(4))
    Invitation.objects.filter(pk=expired[0].pk).update(expires_at=timezone.now())
    accept_invitation(used[1], make_user())
    revoke_invitation(revoked[0])
    statuses = [Invitation.objects.get(pk=each[0].pk).status for each in (expired, used, revoked, still_open)]
    assert statuses == ["expired", "used", "revoked", "open"]
    assert list(Invitation.objects.open()) == [still_open[0]]


def test_people_are_invited_all_together_or_not_at_all():
    project = make_project()
    with pytest.raises(DomainError, match="language"):
        invite_all(project, [Invitee("researcher"), Invitee("annotator")])
    assert not Invitation.objects.exists()
