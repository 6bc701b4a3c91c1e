"""What a user can set for an import, declared once for the command's flags and the page's form."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "flag", "list", "pairs", "choice"]


@dataclass(frozen=True)
class Option:
    """One setting of a format.

    Kinds: `text`; `flag` (True or False); `choice` (one of `choices`); `list` (a list of texts; as text
    separated by commas); `pairs` (a list of texts such as 'ours=theirs'; as text one a line).
    """

    name: str
    label: str
    help: str
    kind: Kind
    default: Any
    choices: tuple[str, ...] = ()
    pattern: str = ""
    """What a text has to match as a whole, if it matters."""

    @property
    def flag(self) -> str:
        """The command's flag: --create-questionnaire."""
        return "--" + self.name.replace("_", "-")


class OptionsRefused(ValueError):
    """Settings that the format does not have or cannot use; `fields` maps names to what is wrong."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(f"{name}: {message}" for name, message in fields.items()))


def read_options(declared: Sequence[Option], given: Mapping[str, object]) -> dict[str, Any]:
    """All options with their values: those given, read from text or JSON values, and defaults for the rest.

    Raises OptionsRefused naming every option that is unknown or has a value that it cannot have.
    """
    known = {option.name: option for option in declared}
    wrong = {
        name: f"this format has no such option; it has {', '.join(known) or 'none'}"
        for name in given
        if name not in known
    }
    values = {option.name: option.default for option in declared}
    for name, found in given.items():
        if name in wrong or found is None:
            continue
        try:
            values[name] = _read(known[name], found)
        except ValueError as error:
            wrong[name] = str(error)
    if wrong:
        raise OptionsRefused(wrong)
    return values


def _read(option: Option, found: object) -> Any:
    if option.kind == "flag":
        if not isinstance(found, bool):
            raise ValueError(f"found {found!r}, expected true or false")
        return found
    if option.kind in ("list", "pairs"):
        if isinstance(found, str):
            parts = found.split(",") if option.kind == "list" else found.splitlines()
            return [part.strip() for part in parts if part.strip()] if found.strip() else []
        if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
            raise ValueError(f"found {found!r}, expected a list of texts")
        return list(found)
    if not isinstance(found, str):
        raise ValueError(f"found {found!r}, expected a text")
    if option.kind == "choice" and found not in option.choices:
        raise ValueError(f"found {found!r}, expected one of {', '.join(option.choices)}")
    if option.pattern and not re.fullmatch(option.pattern, found.strip()):
        raise ValueError(f"found {found!r}, expected a text that matches {option.pattern}")
    return found.strip()


LANGUAGE = Option(
    name="language",
    label="Language",
    help="Language code of articles for which the file names no language.",
    kind="text",
    default="en",
    pattern=r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?",
)
CREATE_QUESTIONNAIRE = Option(
    name="create_questionnaire",
    label="Make a questionnaire for this file",
    help="Take the questionnaire that a dry run proposes, where the project's does not fit the file.",
    kind="flag",
    default=False,
)
RATER = Option(
    name="rater",
    label="Rater",
    help="Pseudonym of the rater under whom the file's human labels are kept.",
    kind="text",
    default="imported-labels",
    pattern=r".{1,80}",
)
REFERENCE_SYSTEMS = Option(
    name="reference_systems",
    label="Reference systems",
    help="Systems that are people, whose summaries evaluators may read as references.",
    kind="list",
    default=[],
)
