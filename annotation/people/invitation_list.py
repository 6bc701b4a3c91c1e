"""People to invite, one or a pasted list: addresses, or CSV with roles and languages."""

import csv
from collections.abc import Iterator, Sequence

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from annotation.errors import InvalidFields
from annotation.models import Invitation, Membership, Project, Rater, Role
from annotation.people.invitations import Invitee, invite
from annotation.texts.language_codes import is_language_code

MOST_INVITEES = 200
COLUMNS = ("address", "role", "languages")


class InvalidList(Exception):
    """Some lines are invalid. `problems` has a sentence for each, beginning with its line."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


def invite_person(project: Project, invitee: Invitee) -> tuple[Invitation, str]:
    """Create an invitation, with an address or without; return it with its token.

    Raises InvalidFields for what `read_invitees` refuses in a line.
    """
    wrong = {}
    strange = [code for code in invitee.languages if not is_language_code(code)]
    if strange:
        wrong["languages"] = f"found {', '.join(strange)}, expected language codes such as de or pt-BR"
    elif invitee.role == Role.ANNOTATOR and not invitee.languages:
        wrong["languages"] = "an annotator needs at least one"
    if invitee.email:
        known = _known_addresses(project).get((invitee.email.lower(), invitee.role))
        if not _is_address(invitee.email):
            wrong["email"] = f"found “{invitee.email}”, expected an e-mail address"
        elif known:
            wrong["email"] = f"{invitee.email} {known}"
    if invitee.role not in Role.values:
        wrong["role"] = f"found “{invitee.role}”, expected annotator, researcher or manager"
    if wrong:
        raise InvalidFields(wrong)
    return invite(project, invitee.role, sorted({*invitee.languages}), invitee.note, invitee.email)


def read_invitees(project: Project, text: str, otherwise: Invitee) -> list[Invitee]:
    """Return the people in `text`: on each line an address, or address, role and languages.

    Cells are separated by commas, semicolons or tabs, and languages in a cell by spaces. A first line with
    the names of `COLUMNS` is skipped. What a line leaves out comes from `otherwise`. Raises InvalidList,
    also for addresses that occur twice, have an open invitation or belong to somebody with this role.
    """
    problems: list[str] = []
    invitees: list[Invitee] = []
    invited = _known_addresses(project)
    lines = list(_lines(text))
    if len(lines) > MOST_INVITEES:
        raise InvalidList([f"Found {len(lines)} lines. Invite at most {MOST_INVITEES} people at once."])
    for number, cells in lines:
        address, role, languages = (*cells, "", "", "")[: len(COLUMNS)]
        chosen = role.lower() or otherwise.role
        spoken = sorted(set(languages.replace(",", " ").split())) or otherwise.languages
        rates = chosen == Role.ANNOTATOR
        invitee = Invitee(chosen, spoken if rates else (), address, otherwise.note)
        found = list(_problems(invitee, cells, invited))
        problems += (f"Line {number}: {problem}" for problem in found)
        invited.setdefault((address.lower(), invitee.role), f"is also on line {number}")
        invitees.append(invitee)
    if problems:
        raise InvalidList(problems)
    return invitees


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line that is not empty, with its number from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        delimiter = next((each for each in "\t;" if each in line), ",")
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
        is_header = number == 1 and tuple(map(str.lower, cells)) == COLUMNS[: len(cells)]
        if any(cells) and not is_header:
            yield number, cells


def _problems(invitee: Invitee, cells: Sequence[str], known: dict[tuple[str, str], str]) -> Iterator[str]:
    if len(cells) > len(COLUMNS):
        yield f"found {len(cells)} cells, expected address, role and languages. Separate languages by spaces."
        return
    if not _is_address(invitee.email):
        yield f"found “{invitee.email}”, expected an e-mail address."
    if invitee.role not in Role.values:
        yield f"found “{invitee.role}”, expected annotator, researcher or manager."
    wrong = [code for code in invitee.languages if not is_language_code(code)]
    if wrong:
        yield f"found {', '.join(wrong)}, expected language codes such as de or pt-BR."
    if invitee.role == Role.ANNOTATOR and not invitee.languages:
        yield "an annotator needs a language. Add it to the line or choose it below."
    if (invitee.email.lower(), invitee.role) in known:
        yield f"{invitee.email} {known[invitee.email.lower(), invitee.role]}."


def _is_address(email: str) -> bool:
    try:
        validate_email(email)
    except ValidationError:
        return False
    return True


def _known_addresses(project: Project) -> dict[tuple[str, str], str]:
    """Return why an address needs no invitation to a role of the project, by lower-case address and role."""
    raters = Rater.objects.filter(project=project, user__isnull=False).exclude(user__email="")
    members = Membership.objects.filter(project=project).exclude(user__email="")
    invited = Invitation.objects.open().filter(project=project).exclude(email="")
    known = dict.fromkeys(invited.values_list("email", "role"), "has an open invitation. Revoke it first")
    for email, role in members.values_list("user__email", "role"):
        known[email, role] = f"is already a {role} of the project"
    for email, pseudonym in raters.values_list("user__email", "pseudonym"):
        known[email, Role.ANNOTATOR.value] = f"already rates as {pseudonym}. Change their languages instead"
    return {(email.lower(), role): why for (email, role), why in known.items()}
