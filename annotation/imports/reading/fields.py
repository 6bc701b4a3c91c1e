"""Reading the fields of one row, and noting their problems."""

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from annotation.imports.reading.lines import unstorable
from annotation.imports.reading.records import ArticleRecord, Entry, Problem, Rejected, Row, shown
from annotation.protocol import LARGEST_NUMBER
from annotation.texts.language_codes import is_language_code

SPLITS = ("train", "validation", "test")
FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
LONGEST = {
    "id": 400,
    "article_id": 200,
    "language": 12,
    "dataset": 80,
    "title": 300,
    "system": 120,
    "rater": 80,
    "group": 40,
    "question": 60,
    "dimension": 60,
    "evaluator": 120,
}
"""Maximum number of characters, by the content of the field."""
LONGEST_COMMENT = 2000
MOST_IN_A_LIST = 1000
WITHIN_LIMITS = f"a number from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}"
LARGEST_ORDINAL = 9_999  # of revisions and stages


class Fields:
    """The fields of one row.

    Every reading method returns a usable value, and notes a problem if the file has something else. Check
    `problems` (or `rejected`) before using anything from the row.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        self.problems: list[Problem] = []

    def problem(self, field: str, found: object, expected: str) -> None:
        self.problems.append(Problem(self.row.file, self.row.line, field, shown(found), expected))

    def is_wrong(self, field: str) -> bool:
        """Return whether a problem with this field was noted."""
        return any(problem.field == field for problem in self.problems)

    def rejected(self) -> Rejected | None:
        """Return the row as rejected if it has a problem."""
        if not self.problems:
            return None
        return Rejected(self.row.file, self.row.line, self.row.values, tuple(self.problems))

    def entry(self, article: ArticleRecord | None = None, **records: Any) -> Entry | Rejected:
        """Return the row with its records as `Entry` takes them, or as rejected if it has a problem."""
        row = self.row
        return self.rejected() or Entry(row.file, row.line, row.values, article, **records)

    def text(self, field: str, *, needed: bool = False) -> str:
        """Return a text unchanged, empty if there is none. With `needed` the field is required."""
        found = self.row.values.get(field)
        if found is None:
            if needed:
                self.problem(field, None, "a text")
            return ""
        return self.check_text(field, found)

    def check_text(self, field: str, found: object) -> str:
        if not isinstance(found, str):
            self.problem(field, found, "a text")
            return ""
        if self.row.storable:
            return found
        fault = unstorable(found)
        if fault is not None:
            expected = "a text that can be stored"
            self.problems.append(Problem(self.row.file, self.row.line, field, fault, expected))
            return ""
        return found

    def name(self, field: str, holds: str = "", *, needed: bool = False) -> str:
        """Return a short text without surrounding white space, at most LONGEST[holds or field] long.

        A whole number becomes its digits, since ids and names are often written without quotes.
        """
        found = self.row.values.get(field)
        if found is None and not needed:
            return ""
        if self.row.storable and type(found) is str:  # most rows
            text = found.strip()
            if text and len(text) <= LONGEST[holds or field]:
                return text
        return self.check_name(field, found, holds, needed=needed)

    def check_name(self, field: str, found: object, holds: str = "", *, needed: bool = False) -> str:
        if type(found) is int:
            found = str(found)
        text = "" if found is None else self.check_text(field, found).strip()
        longest = LONGEST[holds or field]
        if len(text) > longest:
            self.problem(field, text, f"at most {longest} characters, not {len(text)}")
            return ""
        if needed and not text and not self.is_wrong(field):
            self.problem(field, found, "a name")
        return text

    def language(self, field: str = "language") -> str:
        """Return a language code such as de or pt-BR, empty if there is none."""
        code = self.name(field, "language")
        if code and not is_language_code(code):
            self.problem(field, code, "a language code such as de or pt-BR")
            return ""
        return code

    def split(self) -> str:
        found = self.text("split").strip()
        split = {"val": "validation", "dev": "validation"}.get(found, found)
        if split and split not in SPLITS:
            self.problem("split", found, "one of " + ", ".join(SPLITS))
            return ""
        return split

    def flag(self, field: str) -> bool:
        """Return whether the field says yes; False if there is none."""
        found = self.row.values.get(field)
        if found is None:
            return False
        said = FLAGS.get(str(found).strip().lower())
        if said is None:
            self.problem(field, found, "yes or no")
        return bool(said)

    def ordinal(self, field: str) -> int | None:
        """Return a whole number from 1, or None if there is none."""
        found = self.row.values.get(field)
        text = "" if found is None else str(found).strip()
        if not text:
            return None
        if re.fullmatch(r"[1-9][0-9]{0,3}", text):
            return int(text)
        self.problem(field, found, f"a whole number from 1 to {LARGEST_ORDINAL:,}")
        return None

    def one_of(self, field: str, allowed: Collection[str]) -> str:
        """Return one of the allowed words, empty if there is none."""
        found = self.text(field).strip()
        if found and found not in allowed:
            self.problem(field, found, f"one of {', '.join(allowed)}")
            return ""
        return found

    def moment(self, field: str) -> datetime | None:
        """Return a date and time in ISO 8601 in UTC, also if it has no time zone; None if there is none."""
        found = self.text(field).strip()
        if not found:
            return None
        try:
            moment = datetime.fromisoformat(found)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):  # no text of a time, or one outside the years 1 to 9999 in UTC
            self.problem(field, found, "a date and time such as 2024-05-17T09:30:00Z")
            return None

    def texts(self, field: str, found: object) -> list[str]:
        """Return a list of texts, empty if there is none."""
        if found is None:
            return []
        if not isinstance(found, list) or len(found) > MOST_IN_A_LIST:
            self.problem(field, found, f"a list of at most {MOST_IN_A_LIST:,} texts")
            return []
        return [self.check_text(f"{field}.{number}", each) for number, each in enumerate(found, start=1)]

    def value(self, field: str, found: object) -> str:
        """Return an answer as text, empty if there is none. Numbers are written by `number_text`."""
        if found is None:
            return ""
        if isinstance(found, bool):
            return str(found).lower()
        if isinstance(found, int | float):
            number = self.number(field, found)
            return "" if number is None else number_text(number)
        return self.check_text(field, found).strip()

    def members(self, field: str, *, needed: bool = False) -> Mapping[str, object]:
        """Return an object, empty if there is none."""
        return self.check_members(field, self.row.values.get(field), needed=needed)

    def check_members(self, field: str, found: object, *, needed: bool = False) -> Mapping[str, object]:
        if found is None and not needed:
            return {}
        if not isinstance(found, dict):
            self.problem(field, found, "an object")
            return {}
        return found

    def number(self, field: str, found: object) -> float | None:
        """Return a number within LARGEST_NUMBER, or None for null."""
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float):
            self.problem(field, found, "a number")
            return None
        try:
            number = float(found)
        except OverflowError:
            number = math.inf
        if abs(number) > LARGEST_NUMBER:
            self.problem(field, found, WITHIN_LIMITS)
            return None
        return number


def number_text(number: float) -> str:
    """Return the shortest text that reads as the same number: 4 and not 4.0."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
