"""Pasted lists of people: which lines are read, and what is said of the others."""

import pytest

from annotation.people.invitation_list import MOST_INVITEES, InvalidList, read_invitees
from annotation.people.invitations import Invitee, invite, revoke_invitation
from tests.factories import make_member, make_project, make_rater

pytestmark = pytest.mark.django_db

ANNOTATOR = Invitee("annotator", ["en"], note="Spring")


def problems_of(text, project=None, otherwise=ANNOTATOR):
    with pytest.raises(InvalidList) as refused:
        read_invitees(project or make_project(), text, otherwise)
    return refused.value.problems


def test_addresses_and_csv_are_read_with_the_forms_choices_for_what_is_missing():
    text = """Address, Role, Languages

    ada@example.org
    ben@example.org\tannotator\tde pt-BR
    cem@example.org, RESEARCHER
    dan@example.org;;tr
    eve@example.org,annotator,"vi, es"
    """
    assert read_invitees(make_project(), text, ANNOTATOR) == [
        Invitee("annotator", ["en"], "ada@example.org", "Spring"),
        Invitee("annotator", ["de", "pt-BR"], "ben@example.org", "Spring"),
        Invitee("researcher", (), "cem@example.org", "Spring"),
        Invitee("annotator", ["tr"], "dan@example.org", "Spring"),
        Invitee("annotator", ["es", "vi"], "eve@example.org", "Spring"),
    ]


def test_every_invalid_line_is_named():
    lines = [
        "ada",
        "ben@example.org,boss",
        "cem@example.org,,German zh-Hant-TW-xyz",
        "dan@example.org,annotator,de,tr",
        "Dan@example.org",
        "dan@example.org",
    ]
    assert problems_of("\n".join(lines)) == [
        "Line 1: found “ada”, expected an e-mail address.",
        "Line 2: found “boss”, expected annotator, researcher or manager.",
        "Line 3: found German, zh-Hant-TW-xyz, expected language codes such as de or pt-BR.",
        "Line 4: found 4 cells, expected address, role and languages. Separate languages by spaces.",
        "Line 5: Dan@example.org is also on line 4.",
        "Line 6: dan@example.org is also on line 4.",
    ]
    assert problems_of("ada@example.org", otherwise=Invitee("annotator")) == [
        "Line 1: an annotator needs a language. Add it to the line or choose it below."
    ]
    many = "\n".join(f"rater{number}@example.org" for number in range(MOST_INVITEES + 1))
    assert problems_of(many) == ["Found 201 lines. Invite at most 200 people at once."]


def test_people_who_are_in_the_project_or_invited_to_it_are_not_invited_again():
    project = make_project()
    rater, researcher = make_rater(project), make_member(project, "researcher")
    for user, email in ((rater.user, "ada@example.org"), (researcher, "ben@example.org")):
        user.email = email
        user.save()
    invitation, _ = invite(project, "manager", email="Cem@example.org")
    text = "ADA@example.org\nben@example.org,researcher\ncem@example.org,manager"
    assert problems_of(text, project) == [
        f"Line 1: ADA@example.org already rates as {rater.pseudonym}. Change their languages instead.",
        "Line 2: ben@example.org is already a researcher of the project.",
        "Line 3: cem@example.org has an open invitation. Revoke it first.",
    ]
    revoke_invitation(invitation)
    other_roles = "ada@example.org,researcher\nben@example.org\ncem@example.org,manager"
    assert len(read_invitees(project, other_roles, ANNOTATOR)) == 3
